/** An SMTP server that accepts every mail and keeps none. Runs in its own process. */
import type { AddressInfo } from 'node:net';
import { SMTPServer } from 'smtp-server';

let taken = 0;
let wanted = Infinity;

const server = new SMTPServer({
  disabledCommands: ['AUTH', 'STARTTLS'],
  disableReverseLookup: true,
  onData: (stream, _session, done) => {
    stream.resume();
    stream.once('end', () => {
      done();
      taken++;
      if (taken === wanted) tell();
    });
  },
});
server.on('error', () => undefined);
server.listen(0, '127.0.0.1', () => {
  process.send!({ listening: (server.server.address() as AddressInfo).port });
});

function tell(): void {
  process.send!({ takenAt: Date.now() });
  taken = 0;
  wanted = Infinity;
}

process.on('message', ({ mails }: { mails: number }) => {
  wanted = mails;
  if (taken >= wanted) tell();
});
process.on('disconnect', () => process.exit());
