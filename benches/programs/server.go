// A server and a client of HTTP in Go: 16 fetches at a time. Run with `serve` or `fetch`.
package main

import (
	"fmt"
	"io"
	"net/http"
	"os"
	"sync"
)

func main() {
	if os.Args[1] == "serve" {
		body := make([]byte, 200_000)
		http.HandleFunc("/", func(w http.ResponseWriter, _ *http.Request) { w.Write(body) })
		panic(http.ListenAndServe(":8080", nil))
	}
	var group sync.WaitGroup
	for i := 0; i < 16; i++ {
		group.Add(1)
		go func() {
			defer group.Done()
			for j := 0; j < 2; j++ {
				answer, err := http.Get(fmt.Sprintf("http://server:8080/%d", j))
				if err != nil {
					panic(err)
				}
				io.Copy(io.Discard, answer.Body)
				answer.Body.Close()
			}
		}()
	}
	group.Wait()
}
