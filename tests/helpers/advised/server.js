// SPDX-License-Identifier: GPL-2.0
// An HTTP server of Node. usage: server.js ADDRESS PORT FILE
const fs = require("fs"), http = require("http");
const [address, port, file] = process.argv.slice(2);
const body = fs.readFileSync(file);

const server = http.createServer((_, response) => {
	response.writeHead(200, { "Content-Length": body.length });
	response.end(body);
});
// Clients pause for minutes.
server.keepAliveTimeout = 0;
server.listen(Number(port), address);
