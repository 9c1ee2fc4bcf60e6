package watch

import (
	"bytes"
	"crypto/sha256"
	_ "embed"
	"encoding/base64"
	"regexp"
	"sync"

	"konkanitrain/internal/page"
)

var (
	//go:embed page.html
	pageHTML string
	//go:embed page.css
	ownCSS string
	//go:embed uplot/uPlot.iife.min.js
	plotJS string
	//go:embed uplot/uPlot.min.css
	plotCSS string
	//go:embed uplot/LICENSE
	plotLicense string
	//go:embed charts.js
	chartsJS string
	//go:embed memory.js
	memoryJS string
	//go:embed worst.js
	worstJS string
	//go:embed page.js
	pageJS string

	pageCSS = page.CSS + page.Curves + page.Parts + plotCSS + "\n" + ownCSS
)

// document is the page, which is the same for all runs: what it shows it asks for. Its policy allows it its own style,
// its own script and requests to where it comes from, and nothing else.
var document = sync.OnceValues(func() (whole *answer, policy string) {
	kind := page.New(page.Kind{
		Body: pageHTML, CSS: pageCSS, Media: "connect-src 'self'; media-src 'self'",
		Script: "/*\n" + plotLicense + "\n*/\n" + plotJS + "\n" + page.Script + chartsJS + memoryJS + worstJS + pageJS,
	})
	var b bytes.Buffer
	if err := kind.Write(&b, "konkanitrain", nil, struct{}{}); err != nil {
		panic(err) // it has no data that could be wrong
	}
	return newAnswer(b.Bytes()), "default-src 'none'; connect-src 'self'; media-src 'self'; frame-ancestors 'none'; base-uri 'none'; form-action 'none'" +
		"; style-src " + hashes(b.Bytes(), styleElement) + "; script-src " + hashes(b.Bytes(), scriptElement)
})

var (
	styleElement  = regexp.MustCompile(`(?s)<style>(.*?)</style>`)
	scriptElement = regexp.MustCompile(`(?s)<script>(.*?)</script>`)
)

// hashes are the sources of a policy that allow just these elements of a page.
func hashes(page []byte, element *regexp.Regexp) (sources string) {
	for _, m := range element.FindAllSubmatch(page, -1) {
		sum := sha256.Sum256(m[1])
		sources += " 'sha256-" + base64.StdEncoding.EncodeToString(sum[:]) + "'"
	}
	return sources[1:]
}
