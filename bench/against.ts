import { join, resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import { type Bench, say, type Server } from './bench.js';
import { type Page, pages } from './pages.js';
import { CONNECTIONS, inTurns, plansOf } from './reads.js';
import { BRIEF_HEADING, brief } from './report.js';

/** The parts of another checkout's benchmark that this one imports. */
interface Checkout {
  Bench: typeof Bench;
  pages: typeof pages;
}

/**
 * Compares pages of this API with those of another built checkout, such as the previous commit. Each migrates its own
 * database; rounds alternate between them.
 *
 * @param folder the other checkout
 */
export async function measureAgainst(bench: Bench, folder: string): Promise<void> {
  const load = (module: string) => import(pathToFileURL(join(resolve(folder), 'dist/bench', module)).href);
  const other = { ...(await load('bench.js')), ...(await load('pages.js')) } as Checkout;
  const theirs = new other.Bench(bench.length, bench.students);
  bench.alsoStop(theirs);
  await theirs.prepare();
  const servers: Server[] = [await bench.serveApi(), { ...(await theirs.serveApi()), key: theirs.database.key }];
  const [ownPages, theirPages] = [await pages(bench.database), await other.pages(theirs.database)];
  const generator = bench.start('./load.js', { measured: false });
  const { main, others } = plansOf(bench);
  say(`${main.rounds} rounds of ${main.seconds} s each, ${CONNECTIONS} connections\n\n${BRIEF_HEADING('the other')}`);
  for (const [index, page] of ownPages.entries()) {
    const asked: [Page, Page] = [page, theirPages[index]!];
    const [ours, its] = await inTurns(generator, servers, asked, { ...main, warmUp: others.warmUp });
    say(brief(page.name, ours!, its!));
  }
}
