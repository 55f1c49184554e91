package expr

import (
	"errors"
	"testing"
)

func FuzzCompile(f *testing.F) {
	for _, c := range goodCases {
		f.Add(c.src)
	}
	for _, src := range badSources {
		f.Add(src)
	}
	for _, src := range badValues {
		f.Add(src)
	}
	env := world(f)
	types := map[string]*Type{}
	for name, v := range env {
		types[name] = TypeOf(v)
	}
	f.Fuzz(func(t *testing.T, src string) {
		e, errs := Compile(src, 100)
		for _, bad := range errs {
			inside(t, src, bad)
		}
		if (e == nil) != (len(errs) > 0) {
			t.Fatal("an expression and errors, or neither")
		}
		if e == nil {
			return
		}
		typ, faults := e.Check(func(name string) *Type { return types[name] })
		for _, bad := range faults {
			inside(t, src, bad)
		}
		v, err := e.Eval(env)
		again, err2 := e.Eval(env)
		if (err == nil) != (err2 == nil) || !Equal(v, again) {
			t.Fatalf("two results: %v %v, %v %v", v, err, again, err2)
		}
		var bad *Error
		if errors.As(err, &bad) {
			inside(t, src, bad)
			return
		}
		if n, err := Normalize(v); err != nil || !Equal(n, v) {
			t.Fatalf("not a JSON value: %#v", v)
		}
		if len(faults) == 0 && !typ.Can(kindOf(v)) {
			t.Fatalf("%#v is not of type %s", v, typ)
		}
	})
}

func inside(t *testing.T, src string, bad *Error) {
	t.Helper()
	if bad.Span.Start < 100 || bad.Span.End < bad.Span.Start || bad.Span.End > 100+len(src) || bad.Message == "" {
		t.Fatalf("error outside: %+v", bad)
	}
}

func FuzzPath(f *testing.F) {
	for _, s := range []string{"n", "o.deep.x[0].y", `o["a b"]`, "a[", "a.", `a["\`} {
		f.Add(s)
	}
	env := world(f)
	f.Fuzz(func(t *testing.T, src string) {
		p, ok := ParsePath(src)
		if !ok || IsWord(p.Root) {
			return
		}
		e, errs := Compile(src, 0)
		if errs != nil {
			return // a member that is no name of expressions
		}
		a, errA := p.Eval(env)
		b, errB := e.Eval(env)
		if (errA == nil) != (errB == nil) || !Equal(a, b) {
			t.Fatalf("%q as a path is %v %v, as an expression %v %v", src, a, errA, b, errB)
		}
	})
}

func BenchmarkCompile(b *testing.B) {
	for _, src := range []string{`verdict.passed`, `3`, `n > 2 && verdict.passed`, `any(items, .ok) ? "a" + s : join(labels, ", ")`} {
		b.Run(src, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				if _, errs := Compile(src, 0); errs != nil {
					b.Fatal(errs)
				}
			}
		})
	}
}
