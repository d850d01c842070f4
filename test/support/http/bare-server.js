/**
 * A server that does nothing but refuse: each read of a connection is answered with 429, at most as often as the API would.
 * What a client costs others that sends the same requests to it is the client's own share of two cores.
 */
import { createServer } from 'node:net';

const ANSWER = 'HTTP/1.1 429 Too Many Requests\r\nRetry-After: 1\r\nContent-Length: 0\r\n\r\n';
/** The mean of the API's rests (ms). */
const REST = 35;

const server = createServer((socket) => {
  socket.setNoDelay().on('error', () => undefined);
  socket.on('data', () => {
    socket.pause();
    socket.write(ANSWER);
    setTimeout(() => socket.resume(), REST);
  });
});
server.listen(0, '127.0.0.1', () => process.send(server.address().port));
process.once('disconnect', () => process.exit(0));
