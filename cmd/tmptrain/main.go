package main

import (
	"context"
	"fmt"
	"os"

	"github.com/spf13/pflag"

	"konkanitrain/internal/settings"
	"konkanitrain/train"
)

func main() {
	c := train.Default()
	set, err := settings.Of(&c)
	if err != nil {
		panic(err)
	}
	fs := pflag.NewFlagSet("x", pflag.ExitOnError)
	set.Flags(fs)
	file := fs.String("config", "", "")
	fs.Parse(os.Args[1:])
	if *file != "" {
		b, _ := os.ReadFile(*file)
		if err := set.YAML(*file, b); err != nil {
			panic(err)
		}
	}
	if err := set.Apply(); err != nil {
		panic(err)
	}
	_, err = train.Run(context.Background(), c, train.Options{Out: os.Stdout})
	if err != nil {
		fmt.Println(err)
		os.Exit(1)
	}
}
