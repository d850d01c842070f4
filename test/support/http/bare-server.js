/**
 * Answers everything with 429, at most as often as the API would. Traffic sent here instead of to the API shows what
 * its clients alone cost on a machine with two cores.
 */
import { createServer } from 'node:net';

const ANSWER = 'HTTP/1.1 429 Too Many Requests\r\nRetry-After: 1\r\nContent-Length: 0\r\n\r\n';
/** The API's mean pause after a refusal (ms). */
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
