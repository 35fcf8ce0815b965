// A Sandbox Service "on another host" for the default profile: the local service, which serves and delivers to loopback only, with
// two ports that lead in and out. The arguments are those of
// `sandflow-local-service`.
import { spawn } from 'node:child_process';
import { connect, createServer } from 'node:net';

function forward(from, to) {
  createServer((socket) => {
    const target = connect(to);
    socket.on('error', () => target.destroy()).pipe(target);
    target.on('error', () => socket.destroy()).pipe(socket);
  }).listen(from);
}

forward({ host: '0.0.0.0', port: 8080 }, { host: '127.0.0.1', port: 7391 });
forward({ host: '127.0.0.1', port: 7392 }, { host: 'bridge', port: 7392 });
spawn('/usr/local/bin/sandflow-local-service', ['--port', '7391', ...process.argv.slice(2)], { stdio: 'inherit' });
