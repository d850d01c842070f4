import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type Command, InvalidArgumentError, Option } from 'commander';
import { type DemoSize, sizeOf } from '../demo/demo.js';
import { removeDemo } from '../demo/remove-demo.js';
import { importFolder, type ImportReport } from '../import/importer.js';
import { loadDemo } from '../load-demo.js';
import { importPlaces } from '../import/places.js';
import { Failure, print, ProgressLine } from '../output.js';
import { withContext } from '../command-context.js';

interface DemoOptions {
  size: DemoSize;
  seed: number;
  reset?: boolean;
}

/** `import`, `demo`. */
export function addDataCommands(program: Command): void {
  const importing = program
    .command('import')
    .description("import an organization's data (see docs/import-format.md)")
    .argument('<folder>', 'a folder of .ndjson files')
    .option('--org <slug>', 'the organization')
    .action(async (folder: string, { org }: { org?: string }, command: Command) => {
      if (org === undefined) throw new Failure('Say into which organization: --org <slug>');
      const progress = new ProgressLine();
      const report = await withContext(async ({ env, organizationId }) =>
        importFolder({
          url: env.migrationUrl,
          organizationId: await organizationId(org),
          folder,
          onProgress: ({ table, lines }) => progress.show(`${table}: ${lines} lines`),
        }),
      ).finally(() => progress.clear());
      print(command, { organization: org, tables: report.tables }, inWords(report));
    });

  importing
    .command('places')
    .description('import where postcodes are, for all organizations (see docs/import-format.md)')
    .argument('<csv>', 'a file with the columns postcode, suburb, lat and lng')
    .action(async (csv: string, _options: object, command: Command) => {
      const places = await withContext(({ env }) => importPlaces(env.migrationUrl, csv));
      print(command, { places }, `${places} places`);
    });

  program
    .command('demo')
    .description('load the demo organizations')
    .addOption(
      new Option(
        '--size <size>',
        'small, large (100,000 students and 1,000,000 homework assignments) or a number of students',
      )
        .argParser(parseSize)
        .default(sizeOf('small'), 'small'),
    )
    .option('--seed <number>', 'seed of the random data: another seed generates other data', parseSeed, 1)
    .option('--reset', 'delete the existing demo organizations first, with their keys and everything added to them')
    .action(async ({ size, seed, reset }: DemoOptions, command: Command) => {
      const progress = new ProgressLine();
      const folder = mkdtempSync(join(tmpdir(), 'tutoring-demo-'));
      try {
        const loaded = await withContext(async (context) => {
          if (reset) await removeDemo(context.env.migrationUrl);
          return loadDemo(context, { folder, size, seed, onProgress: (text) => progress.show(text) });
        });
        progress.clear();
        for (const { slug, report } of loaded) {
          print(command, { organization: slug, tables: report.tables }, `Organization "${slug}"\n${inWords(report)}`);
        }
      } finally {
        progress.clear();
        rmSync(folder, { recursive: true, force: true });
      }
    });
}

function inWords({ tables }: ImportReport): string {
  const rows = Object.entries(tables).map(
    ([table, { inserted, unchanged }]) => `  ${table.padEnd(26)} ${inserted} inserted, ${unchanged} unchanged`,
  );
  return rows.length > 0 ? rows.join('\n') : '  nothing to import: the folder has no .ndjson files';
}

function parseSize(text: string): DemoSize {
  try {
    return sizeOf(text);
  } catch (error) {
    throw new InvalidArgumentError((error as Error).message);
  }
}

function parseSeed(text: string): number {
  if (!/^\d{1,9}$/.test(text)) throw new InvalidArgumentError('Must be a whole number.');
  return Number(text);
}
