import 'reflect-metadata';
import { readEnvFile } from '@app/config';
import { tolerateClosedOutput } from './output.js';
import { createProgram, explain } from './program.js';

tolerateClosedOutput();
try {
  readEnvFile();
  await createProgram().parseAsync();
} catch (error) {
  process.exitCode = explain(error);
}
