package main

import (
	"go/ast"
	"go/parser"
	"go/token"
	"strconv"
	"strings"
)

// operators are the replacements of binary operators and of assignments with an operator.
var operators = map[token.Token]struct {
	kind string
	to   token.Token
}{
	token.LSS:        {boundary, token.LEQ},
	token.LEQ:        {boundary, token.LSS},
	token.GTR:        {boundary, token.GEQ},
	token.GEQ:        {boundary, token.GTR},
	token.EQL:        {equality, token.NEQ},
	token.NEQ:        {equality, token.EQL},
	token.LAND:       {logic, token.LOR},
	token.LOR:        {logic, token.LAND},
	token.ADD:        {arithmetic, token.SUB},
	token.SUB:        {arithmetic, token.ADD},
	token.MUL:        {arithmetic, token.QUO},
	token.QUO:        {arithmetic, token.MUL},
	token.ADD_ASSIGN: {arithmetic, token.SUB_ASSIGN},
	token.SUB_ASSIGN: {arithmetic, token.ADD_ASSIGN},
	token.MUL_ASSIGN: {arithmetic, token.QUO_ASSIGN},
	token.QUO_ASSIGN: {arithmetic, token.MUL_ASSIGN},
}

// opposite are the functions that min/max swaps, of the language and of package math.
var opposite = map[string]string{"min": "max", "max": "min", "Min": "Max", "Max": "Min"}

// scanner collects the changes of one file.
type scanner struct {
	pkg, file, function string
	fset                *token.FileSet
	lines               []string
	found               []change
}

// fileChanges returns every change that can be made to a file of a package, in the file's order. A generated file
// has none.
func fileChanges(pkg, file string, src []byte) ([]change, error) {
	fset := token.NewFileSet()
	f, err := parser.ParseFile(fset, file, src, parser.ParseComments|parser.SkipObjectResolution)
	if err != nil {
		return nil, err
	}
	if ast.IsGenerated(f) {
		return nil, nil
	}
	s := &scanner{pkg: pkg, file: file, fset: fset, lines: strings.Split(string(src), "\n")}
	for _, d := range f.Decls {
		if g, ok := d.(*ast.GenDecl); ok && (g.Tok == token.IMPORT || g.Tok == token.TYPE) {
			continue
		}
		s.function = declared(d)
		ast.PreorderStack(d, nil, func(n ast.Node, stack []ast.Node) bool {
			s.visit(n, stack)
			return true
		})
	}
	identify(s.found, s.lines)
	return s.found, nil
}

// declared names a declaration: a function, a method with its receiver's type, or the first name of a group.
func declared(d ast.Decl) string {
	switch d := d.(type) {
	case *ast.FuncDecl:
		if d.Recv == nil {
			return d.Name.Name
		}
		t := d.Recv.List[0].Type
		for {
			switch x := t.(type) {
			case *ast.StarExpr:
				t = x.X
			case *ast.IndexExpr:
				t = x.X
			case *ast.IndexListExpr:
				t = x.X
			case *ast.Ident:
				return x.Name + "." + d.Name.Name
			default:
				return d.Name.Name
			}
		}
	case *ast.GenDecl:
		if len(d.Specs) > 0 {
			if v, ok := d.Specs[0].(*ast.ValueSpec); ok {
				return v.Names[0].Name
			}
		}
	}
	return "declarations"
}

func (s *scanner) visit(n ast.Node, stack []ast.Node) {
	switch n := n.(type) {
	case *ast.BlockStmt:
		s.statements(n.List)
	case *ast.CaseClause:
		s.statements(n.Body)
	case *ast.CommClause:
		s.statements(n.Body)
	case *ast.IfStmt:
		s.branch(n)
	case *ast.BinaryExpr:
		if n.Op == token.ADD && (isText(n.X) || isText(n.Y)) {
			return
		}
		s.operator(n.Op, n.OpPos, n)
	case *ast.AssignStmt:
		if len(n.Rhs) == 1 && !isText(n.Rhs[0]) {
			s.operator(n.Tok, n.TokPos, n)
		}
	case *ast.BasicLit:
		s.literal(n, stack[len(stack)-1])
	case *ast.CallExpr:
		name, ok := n.Fun.(*ast.Ident)
		if sel, isSel := n.Fun.(*ast.SelectorExpr); isSel {
			if p, isIdent := sel.X.(*ast.Ident); isIdent && p.Name == "math" {
				name, ok = sel.Sel, true
			}
		}
		if ok && opposite[name.Name] != "" {
			s.swap(minMax, n, name.Pos(), name.End(), opposite[name.Name])
		}
	}
}

// statements drops statements of a list: calls, assignments, and exits that return nothing.
func (s *scanner) statements(list []ast.Stmt) {
	for _, stmt := range list {
		kind := statement
		switch x := stmt.(type) {
		case *ast.ExprStmt, *ast.IncDecStmt, *ast.SendStmt:
		case *ast.AssignStmt:
			if x.Tok == token.DEFINE {
				continue // what follows would not compile
			}
		case *ast.ReturnStmt:
			if len(x.Results) > 0 {
				continue // branch has these
			}
			kind = earlyExit
		case *ast.BranchStmt:
			if x.Tok != token.BREAK && x.Tok != token.CONTINUE {
				continue
			}
			kind = earlyExit
		default:
			continue
		}
		s.wrap(kind, "drop", stmt, "")
	}
}

// branch changes an if: one that handles an error, or ends with the return of a value, is never entered; other
// conditions than == and != are negated.
func (s *scanner) branch(n *ast.IfStmt) {
	kind := ""
	if isErrorCheck(n.Cond) {
		kind = errorCheck
	} else if len(n.Body.List) > 0 {
		if r, ok := n.Body.List[len(n.Body.List)-1].(*ast.ReturnStmt); ok && len(r.Results) > 0 {
			kind = earlyExit
		}
	}
	cond := s.source(n.Cond)
	if kind != "" { // with the condition kept, all variables stay in use and it compiles
		s.wrap(kind, "never", n.Cond, "false && ("+cond+")")
	}
	if b, ok := n.Cond.(*ast.BinaryExpr); !ok || b.Op != token.EQL && b.Op != token.NEQ {
		s.wrap(condition, "negate", n.Cond, "!("+cond+")")
	}
}

// isErrorCheck recognizes `err != nil` by the name of the variable.
func isErrorCheck(cond ast.Expr) bool {
	b, ok := cond.(*ast.BinaryExpr)
	if !ok || b.Op != token.NEQ {
		return false
	}
	x, isIdent := b.X.(*ast.Ident)
	y, isNil := b.Y.(*ast.Ident)
	return isIdent && isNil && y.Name == "nil" && (strings.HasSuffix(x.Name, "err") || strings.HasSuffix(x.Name, "Err"))
}

// isText says whether an expression is a string by its look: + between strings has no other operator.
func isText(e ast.Expr) bool {
	switch x := e.(type) {
	case *ast.BasicLit:
		return x.Kind == token.STRING
	case *ast.BinaryExpr:
		return x.Op == token.ADD && (isText(x.X) || isText(x.Y))
	case *ast.ParenExpr:
		return isText(x.X)
	}
	return false
}

func (s *scanner) operator(op token.Token, pos token.Pos, whole ast.Node) {
	if r, ok := operators[op]; ok {
		s.swap(r.kind, whole, pos, pos+token.Pos(len(op.String())), r.to.String())
	}
}

// literal adds 1 to an integer. A capacity decides nothing, and a file's mode in octal is no number to be one off.
func (s *scanner) literal(n *ast.BasicLit, parent ast.Node) {
	if call, ok := parent.(*ast.CallExpr); ok && len(call.Args) == 3 && call.Args[2] == ast.Expr(n) {
		if f, ok := call.Fun.(*ast.Ident); ok && f.Name == "make" {
			return
		}
	}
	v, err := strconv.ParseUint(n.Value, 0, 63)
	if n.Kind != token.INT || err != nil || strings.HasPrefix(n.Value, "0o") {
		return
	}
	s.swap(constant, parent, n.Pos(), n.End(), strconv.FormatUint(v+1, 10))
}

func (s *scanner) source(n ast.Node) string {
	from, to := s.fset.Position(n.Pos()), s.fset.Position(n.End())
	if from.Line != to.Line {
		return ""
	}
	return s.lines[from.Line-1][from.Column-1 : to.Column-1]
}

// wrap notes the change that replaces all of n by text; verb says what that does to it.
func (s *scanner) wrap(kind, verb string, n ast.Node, text string) {
	s.add(kind, n, n.Pos(), n.End(), text, func(old, _ string) string { return verb + " " + old })
}

// swap notes the change that replaces what lies between from and to by text; shown is the expression or statement
// around it.
func (s *scanner) swap(kind string, shown ast.Node, from, to token.Pos, text string) {
	s.add(kind, shown, from, to, text, func(old, new string) string { return old + " -> " + new })
}

// add notes a change, which say puts into words. A change of more than one line is left out. Where shown is longer
// than a line, the line is shown.
func (s *scanner) add(kind string, shown ast.Node, from, to token.Pos, text string, say func(old, new string) string) {
	a, b := s.fset.Position(from), s.fset.Position(to)
	if a.Line != b.Line {
		return
	}
	line := s.lines[a.Line-1]
	changed := line[:a.Column-1] + text + line[b.Column-1:]
	first, last := len(line)-len(strings.TrimLeft(line, " \t")), len(line)
	if p, q := s.fset.Position(shown.Pos()), s.fset.Position(shown.End()); p.Line == q.Line {
		first, last = p.Column-1, q.Column-1
	}
	s.found = append(s.found, change{
		Package: s.pkg, File: s.file, Line: a.Line, Function: s.function, Kind: kind, Old: line, New: changed,
		Text: say(line[first:last], changed[first:last+len(changed)-len(line)]),
	})
}
