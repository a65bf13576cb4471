// Command asker leaves requests in the state of a stopped server, so that the
// next server finds them open. Each line of its input is a verb, a task's key
// and a text, with tabs in between:
//
//	asker STATE < requests
//
// The upgrade test builds it from the commit whose server made the state. The
// calls are made by reflection, so that it also builds with commits that do not
// know a verb yet, or that have one call for each verb.
package main

import (
	"bufio"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"time"

	"coppice/engine"
	"coppice/store/sqlite"
)

// calls are the methods of the intake, by verb. Where one is missing, Ask takes
// the verb.
var calls = map[string]string{
	"stop": "Stop", "retry": "Retry", "land": "Land", "undo": "Undo", "requeue": "Requeue", "take": "Take", "give": "Give",
	"continue": "Continue", "send": "Send", "next": "SendNext", "interrupt": "Interrupt", "model": "Model", "answer": "Answer",
}

func main() {
	if err := run(context.Background(), os.Args[1]); err != nil {
		fmt.Fprintln(os.Stderr, "asker:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, state string) (err error) {
	s, err := sqlite.Open(ctx, sqlite.Config{Path: filepath.Join(state, "coppice.db")})
	if err != nil {
		return err
	}
	defer s.Close()
	intake := newIntake(s)
	for lines := bufio.NewScanner(os.Stdin); lines.Scan(); {
		words := append(strings.SplitN(lines.Text(), "\t", 3), "", "")
		if err := ask(ctx, intake, words[0], words[1], words[2]); err != nil {
			return fmt.Errorf("%s %s: %w", words[0], words[1], err)
		}
	}
	return nil
}

// newIntake makes an intake that knows every agent.
func newIntake(s *sqlite.Store) reflect.Value {
	make := reflect.ValueOf(engine.NewIntake)
	args := []reflect.Value{reflect.ValueOf(s), reflect.ValueOf(time.Now)}
	for i := 2; i < make.Type().NumIn() && !(make.Type().IsVariadic() && i == make.Type().NumIn()-1); i++ {
		of := make.Type().In(i)
		args = append(args, reflect.MakeFunc(of, func([]reflect.Value) []reflect.Value {
			var none []reflect.Value
			for r := range of.NumOut() {
				none = append(none, reflect.Zero(of.Out(r)))
			}
			return none
		}))
	}
	return make.Call(args)[0]
}

// ask makes one request. The first text that the call takes is the key, the
// second the words, or the verb; a struct takes the words as its text or note.
func ask(ctx context.Context, intake reflect.Value, verb, key, text string) error {
	call, words := intake.MethodByName(calls[verb]), []string{key, text}
	if !call.IsValid() {
		call, words = intake.MethodByName("Ask"), []string{key, verb}
	}
	if !call.IsValid() {
		return fmt.Errorf("this commit has no such verb")
	}
	args := []reflect.Value{reflect.ValueOf(ctx)}
	last := call.Type().NumIn()
	if call.Type().IsVariadic() { // Call takes the elements of the last parameter: there are none
		last--
	}
	for i := 1; i < last; i++ {
		arg := reflect.New(call.Type().In(i)).Elem()
		switch arg.Kind() {
		case reflect.String:
			arg.SetString(words[0])
			words = words[1:]
		case reflect.Struct:
			for _, name := range []string{"Text", "Note"} {
				if f := arg.FieldByName(name); f.IsValid() {
					f.SetString(text)
				}
			}
		}
		args = append(args, arg)
	}
	results := call.Call(args)
	if err, ok := results[len(results)-1].Interface().(error); ok {
		return err
	}
	return nil
}
