import type { Bench } from '../bench.js';
import { measureBookings } from './bookings.js';
import { measureBulkInvites } from './bulk-invites.js';
import { measureMailDrain } from './mail-drain.js';
import { measureImages } from './images.js';
import { measurePayments } from './payments.js';
import { measureTold } from './told.js';
import { measureUploads } from './uploads.js';

/** Measures what callers send, and what the worker does with it. */
export async function measureWrites(bench: Bench): Promise<void> {
  const sink = bench.start('./writes/sink.js', { measured: false });
  const smtpUrl = await sink.listening('smtp');
  const api = await bench.serveApi({ SMTP_URL: smtpUrl });
  await measureBulkInvites(bench, api);
  await measureBookings(bench, api);
  await measurePayments(bench, api);
  await measureTold(bench, api);
  await measureMailDrain(bench, api, sink, smtpUrl);
  await api.child.stop();
  await measureUploads(bench);
  await measureImages(bench);
}
