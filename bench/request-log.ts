import { type Bench, say, type Server } from './bench.js';
import { pages } from './pages.js';
import { CONNECTIONS, inTurns, plansOf } from './reads.js';
import { BRIEF_HEADING, brief } from './report.js';

/** What the request log adds to a read: the API with it against the API without. */
export async function measureRequestLog(bench: Bench): Promise<void> {
  const [page] = await pages(bench.database);
  const servers: [Server, Server] = [
    await bench.serveApi({ REQUEST_LOG: 'true' }),
    await bench.serveApi({ REQUEST_LOG: 'false' }),
  ];
  const generator = bench.start('./load.js', { measured: false });
  const { main } = plansOf(bench);
  say(`Request log: ${main.rounds} rounds of ${main.seconds} s each, ${CONNECTIONS} connections`);
  say(BRIEF_HEADING('without'));
  const [on, off] = await inTurns(generator, servers, [page], main);
  say(brief(`${page.name}, with the log`, on!, off!));
}
