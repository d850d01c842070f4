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
  // A connection that a driver leaves open must not keep the process alive.
  setTimeout(() => process.exit(), 1_000).unref();
}
