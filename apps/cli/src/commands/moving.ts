import { existsSync, readFileSync } from 'node:fs';
import { parseEnv } from 'node:util';
import type { Command } from 'commander';
import type { Env } from '@app/config';
import { type CommandContext, openDatabase, withContext } from '../command-context.js';
import { abort, alone, drop, homeIn, live, type Move, pause } from '../moving/homes.js';
import { move, type Moved } from '../moving/moving.js';
import { tellPeople } from '../moving/telling.js';
import { confirm, Failure, print, ProgressLine } from '../output.js';
import { keyFits } from '../start/encryption-key.js';

interface MoveOptions {
  to?: string;
  toEnv?: string;
  resume?: boolean;
  abort?: boolean;
}

/** `move` and `org drop`. */
export function addMovingCommands(program: Command, org: Command): void {
  program
    .command('move')
    .description('move an organization to another installation (see docs/scaling.md)')
    .argument('<slug>', 'the organization')
    .option('--to <url>', "the other installation's MIGRATION_DATABASE_URL")
    .option('--to-env <file>', "the other installation's settings, as its .env has them")
    .option('--resume', 'go on with a move that was interrupted')
    .option('--abort', 'call off a move: only until the organization has moved')
    .action(async (slug: string, options: MoveOptions, command: Command) => {
      const progress = new ProgressLine();
      const result = await withContext((context) =>
        withTarget(context, options, async (to) => {
          const organizationId = await context.organizationId(slug);
          const onProgress = (what: string) => progress.show(what);
          const wanted: Move = { organizationId, from: context.env, to, onProgress };
          return alone(wanted, () => (options.abort ? abort(wanted) : moved(wanted, slug, options)));
        }),
      ).finally(() => progress.clear());
      if (!result) {
        print(command, { organization: slug, aborted: true }, `"${slug}" lives here as before.`);
        return;
      }
      const { rows, files, credentials, seconds, mailed, toTell } = result;
      print(
        command,
        { organization: slug, rows, files, credentials, seconds, mailed, to_tell: toTell },
        `"${slug}" lives in the other installation now: ${rows} rows and ${files} files, and the passwords of ${credentials} people. ` +
          `Nothing could be written for ${seconds} seconds. ${mailed} of ${toTell} people were mailed who set a password or accept anew. ` +
          `Here every request is answered with 421 until "org drop ${slug}".`,
      );
    });

  org
    .command('drop')
    .description('remove an organization that has moved to another installation, with all its rows')
    .argument('<slug>', 'the organization')
    .option('--yes', 'do not ask first')
    .option('--lives-here', 'also one that has not moved: all that it has is gone')
    .action(
      async (slug: string, { yes, livesHere = false }: { yes?: boolean; livesHere?: boolean }, command: Command) => {
        if (!yes)
          await confirm(`This removes all rows of "${slug}" from this installation, and nothing brings them back.`);
        await withContext(async ({ env, organizationId }) => {
          const id = await organizationId(slug);
          const home = await homeIn(env, id);
          if (home === 'paused' || home === 'arriving')
            throw new Failure(`"${slug}" is being moved: end that first, with --resume or --abort.`);
          if (home !== 'moved' && !livesHere)
            throw new Failure(`"${slug}" lives here. To remove all that it has, add --lives-here.`);
          await drop(env, id);
        });
        print(
          command,
          { organization: slug, dropped: true },
          `"${slug}" is removed from this installation. Its files are still in the storage.`,
        );
      },
    );
}

/** Moves it, or goes on where an interrupted move has stopped. */
async function moved(
  wanted: Move,
  slug: string,
  { resume = false }: MoveOptions,
): Promise<Moved & { mailed: number; toTell: number }> {
  const { organizationId, from, to } = wanted;
  const here = await homeIn(from, organizationId);
  const interrupted = here === 'paused' || here === 'moved';
  if (interrupted && !resume)
    throw new Failure(
      `A move of "${slug}" was interrupted: go on with --resume${here === 'paused' ? ', or call it off with --abort' : ''}.`,
    );
  if (!interrupted && resume) throw new Failure(`No move of "${slug}" was interrupted.`);
  if (here === 'arriving')
    throw new Failure(`"${slug}" is arriving here: go on in the installation that it comes from.`);
  let done: Moved = { rows: 0, files: 0, luggage: {}, credentials: 0, seconds: 0 };
  if (here !== 'moved') {
    // Before anything is paused.
    if (!resume) await refuseTaken(wanted, slug);
    if (!resume) await pause(wanted);
    if ((await homeIn(to, organizationId)) === 'arriving') await drop(to, organizationId);
    done = await move(wanted);
  }
  await live(to, organizationId);
  return { ...done, ...(await tellPeople(to, organizationId)) };
}

async function refuseTaken({ organizationId, to }: Move, slug: string): Promise<void> {
  if ((await homeIn(to, organizationId)) !== 'nowhere')
    throw new Failure(`"${slug}" is in the other installation already.`);
}

/** The other installation, opened. @throws Failure if it is this one, or its settings do not fit its data */
async function withTarget<T>(
  { env }: CommandContext,
  { to: url, toEnv: file }: MoveOptions,
  work: (to: Env) => Promise<T>,
): Promise<T> {
  if (url === undefined && file === undefined) throw new Failure('Say where to: --to <url>, --to-env <file>, or both');
  if (file !== undefined && !existsSync(file)) throw new Failure(`There is no file ${file}`);
  const { env: to, stop } = await openDatabase(undefined, {
    overrides: url === undefined ? {} : { MIGRATION_DATABASE_URL: url },
    ...(file !== undefined && { source: parseEnv(readFileSync(file, 'utf8')) }),
  });
  try {
    if (to.migrationUrl === env.migrationUrl) throw new Failure('The other installation is this one.');
    if (to.apiUrl === env.apiUrl)
      throw new Failure(
        `Both installations say that they are reached at ${env.apiUrl}: give the settings of the other one with --to-env.`,
      );
    for (const [whose, one] of [
      ["this installation's", env],
      ["the other installation's: give its settings with --to-env", to],
    ] as const)
      if ((await keyFits(one, one.need('ENCRYPTION_KEY'))) === false)
        throw new Failure(`ENCRYPTION_KEY is not ${whose}.`);
    return await work(to);
  } finally {
    await stop();
  }
}
