// A server, and a client that fetches twenty times over one connection. Run with `serve` or `fetch`.
const http = require('http');

if (process.argv[2] === 'serve') {
  http.createServer((_, answer) => answer.end(Buffer.alloc(100_000))).listen(8080);
} else {
  const agent = new http.Agent({ keepAlive: true, maxSockets: 1 });
  let left = 20;
  const fetchOne = () =>
    http.get({ host: 'server', port: 8080, agent }, (answer) => {
      answer.resume();
      answer.on('end', () => (--left ? fetchOne() : process.exit(0)));
    });
  fetchOne();
}
