// SPDX-License-Identifier: GPL-2.0
// Sends one file to whoever connects, by io.Copy: serve_file PORT FILE.
package main

import (
	"io"
	"net"
	"os"
)

func serve(client net.Conn) error {
	defer client.Close()
	file, err := os.Open(os.Args[2])
	if err != nil {
		return err
	}
	defer file.Close()
	_, err = io.Copy(client, file)
	return err
}

func main() {
	listener, err := net.Listen("tcp", "127.0.0.1:"+os.Args[1])
	for err == nil {
		var client net.Conn
		if client, err = listener.Accept(); err == nil {
			err = serve(client)
		}
	}
	panic(err)
}
