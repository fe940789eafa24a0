package pipe_test

import (
	"context"
	"fmt"
	"io"
	"log"
	"os/exec"

	"github.com/seed62b61957/mcp"
	"github.com/seed62b61957/mcp/pipe"
)

// A server in a container that runs already.
func Example() {
	ctx := context.Background()
	client, err := mcp.Connect(ctx, &pipe.Transport{
		Open: func(context.Context) (*pipe.Process, error) {
			cmd := exec.Command("docker", "exec", "-i", "tools", "my-server") // not by ctx, which is for connecting only
			stdin, err := cmd.StdinPipe()
			if err != nil {
				return nil, err
			}
			stdout, output := io.Pipe()
			cmd.Stdout = output // StdoutPipe is closed as soon as the program ends, whatever is still in it
			if err := cmd.Start(); err != nil {
				return nil, err
			}
			wait := func() error {
				defer output.Close()
				return cmd.Wait()
			}
			return &pipe.Process{Stdin: stdin, Stdout: stdout, Wait: wait, Kill: cmd.Process.Kill}, nil
		},
	}, nil)
	if err != nil {
		log.Fatal(err)
	}
	defer client.Close()
	fmt.Println(client.Server().Info.Name)
}
