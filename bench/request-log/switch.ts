/**
 * Preloaded into the measured API (`node --import`). Lets the runner switch the request log on and off in one process,
 * because two processes with the same code differ by more than the log costs.
 */
import 'reflect-metadata';
import { RequestLog } from '../../apps/api/src/http/request-log/request-log.js';

let on = true;
// eslint-disable-next-line @typescript-eslint/unbound-method -- called with `this` below
const note = RequestLog.prototype.note;
RequestLog.prototype.note = function (request) {
  if (on) note.call(this, request);
};

process.on('message', (message: { requestLog?: boolean }) => {
  on = message.requestLog ?? on;
});
