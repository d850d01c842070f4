import type { Command } from 'commander';
import { withContext } from '../command-context.js';
import { importCatalogue } from '../import/catalogue.js';
import { Failure, print } from '../output.js';

const NAME = /^[a-z0-9][a-z0-9_-]{0,99}$/;

/** `import-questions`. */
export function addCatalogueCommands(program: Command): void {
  program
    .command('import-questions')
    .description('import a catalogue of questions for all organizations (see docs/import-format.md)')
    .argument('<file>', 'a file like questions.ndjson')
    .requiredOption('--catalogue <name>', 'its name, such as vcaa')
    .action(async (path: string, { catalogue }: { catalogue: string }, command: Command) => {
      if (!NAME.test(catalogue) || catalogue === 'own') {
        throw new Failure(`"${catalogue}" is not a valid name: use lower-case letters, digits, - and _, but not "own"`);
      }
      const { read, inserted } = await withContext(({ env }) =>
        importCatalogue({ url: env.migrationUrl, catalogue, path }),
      );
      const counts = { inserted, unchanged: read - inserted };
      const words = `Catalogue "${catalogue}": ${inserted} questions inserted, ${read - inserted} unchanged`;
      print(command, { catalogue, read, ...counts }, words);
    });
}
