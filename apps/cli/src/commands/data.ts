import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type Command, InvalidArgumentError, Option } from 'commander';
import { type DemoSize, sizeOf } from '../demo/demo.js';
import { removeDemo } from '../dropping.js';
import { importExport, manifestOf } from '../import/exported.js';
import {
  ImportError,
  importFolder,
  type ImportOptions,
  type ImportReport,
  type TableReport,
} from '../import/importer.js';
import { exportOrganization, exportSheets } from '@app/exports';
import { loadDemo } from '../load-demo.js';
import { importPlaces } from '../import/places.js';
import { Failure, print, ProgressLine } from '../output.js';
import { withContext } from '../command-context.js';

interface ImportFlags {
  org?: string;
  update?: boolean;
  dryRun?: boolean;
}

interface DemoOptions {
  size: DemoSize;
  seed: number;
  reset?: boolean;
}

/** `export`, `import`, `demo`. */
export function addDataCommands(program: Command): void {
  program
    .command('export')
    .description("write all of an organization's data into a folder (see docs/export.md)")
    .argument('<folder>', 'a new or empty folder')
    .requiredOption('--org <slug>', 'the organization')
    .option('--csv', 'what a bookkeeper and a teacher look at, for spreadsheets, instead')
    .action(async (folder: string, { org, csv }: { org: string; csv?: boolean }, command: Command) => {
      const progress = new ProgressLine();
      const onProgress = (what: string, done: number) => progress.show(`${what}: ${done}`);
      if (csv) {
        const files = await withContext(async ({ env, organizationId }) =>
          exportSheets({ url: env.migrationUrl, organizationId: await organizationId(org), folder, onProgress }),
        ).finally(() => progress.clear());
        const words = Object.entries(files).map(([file, rows]) => `  ${file.padEnd(32)} ${rows} rows`);
        print(command, { organization: org, folder, files }, [`In ${folder}:`, ...words].join('\n'));
        return;
      }
      const manifest = await withContext(async ({ env, organizationId }) =>
        exportOrganization({
          env,
          url: env.migrationUrl,
          as: 'owner',
          organizationId: await organizationId(org),
          folder,
          onProgress,
        }),
      ).finally(() => progress.clear());
      const { tables, files, missing } = manifest;
      const rows = tables.reduce((sum, table) => sum + table.rows, 0);
      const words = [`${rows} rows of ${tables.length} tables and ${files.length} files are in ${folder}`];
      if (missing.length > 0) words.push(`Not in the storage any more: ${missing.join(', ')}`);
      print(command, { organization: org, folder, rows, files: files.length, missing }, words.join('\n'));
    });

  const importing = program
    .command('import')
    .description("import an organization's data (see docs/import-format.md)")
    .argument('<folder>', 'a folder of .ndjson files')
    .option('--org <slug>', 'the organization')
    .option('--update', 'change rows that are there already, in the fields that the files give')
    .option('--dry-run', 'say what would happen, and write nothing')
    .action(async (folder: string, { org, update, dryRun }: ImportFlags, command: Command) => {
      const progress = new ProgressLine();
      const onProgress: ImportOptions['onProgress'] = ({ table, lines }) => progress.show(`${table}: ${lines} lines`);
      const manifest = await manifestOf(folder);
      if (manifest) {
        if (org !== undefined || update)
          throw new Failure('An export makes its own organization: leave out --org and --update');
        const { organization, tables } = await withContext(({ env }) =>
          importExport(manifest, { env, url: env.migrationUrl, folder, dryRun, onProgress }),
        ).finally(() => progress.clear());
        const words = `Organization "${organization.slug}"\n${inWords({ tables })}`;
        print(
          command,
          { organization: organization.slug, dry_run: dryRun ?? false, tables },
          dryRun ? `${words}\nNothing was written.` : words,
        );
        return;
      }
      if (org === undefined) throw new Failure('Say into which organization: --org <slug>');
      const report = await withContext(async ({ env, organizationId }) =>
        importFolder({
          env,
          url: env.migrationUrl,
          organizationId: await organizationId(org),
          folder,
          update,
          dryRun,
          onProgress,
        }),
      )
        .catch((error: unknown) => {
          if (!dryRun || !(error instanceof ImportError)) throw error;
          throw new Failure(`${refusedByFile(error)}\n${error.message}`);
        })
        .finally(() => progress.clear());
      const words = dryRun ? `${inWords(report)}\nNothing was written.` : inWords(report);
      print(command, { organization: org, dry_run: dryRun ?? false, tables: report.tables }, words);
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
  const rows = Object.entries(tables).map(([table, report]) => `  ${table.padEnd(26)} ${countsOf(report)}`);
  const differing = Object.values(tables).some((report) => report.differing);
  if (differing) rows.push('  Rows that are there stay as they are: --update changes them.');
  return rows.length > 0 ? rows.join('\n') : '  nothing to import: the folder has no .ndjson files';
}

function countsOf({ inserted, changed, fields = {}, unchanged, differing }: TableReport): string {
  const changes = Object.entries(fields).map(([field, rows]) => `${field} ${rows}`);
  const told = changes.length > 0 ? ` (${changes.join(', ')})` : '';
  return [
    `${inserted} inserted`,
    ...(changed === undefined ? [] : [`${changed} changed${told}`]),
    `${unchanged} unchanged${differing ? ` (${differing} differ)` : ''}`,
  ].join(', ');
}

/** How many lines of each file are refused. */
function refusedByFile({ faults }: ImportError): string {
  const lines = new Map<string, Set<number>>();
  for (const { file, line } of faults) lines.set(file, (lines.get(file) ?? new Set()).add(line));
  return [...lines]
    .map(([file, refused]) => `  ${file.replace('.ndjson', '').padEnd(26)} ${refused.size} refused`)
    .join('\n');
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
