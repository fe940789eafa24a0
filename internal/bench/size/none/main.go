// Command none is a program that calls nobody.
package main

import "fmt"

func main() { fmt.Println("nothing") }
