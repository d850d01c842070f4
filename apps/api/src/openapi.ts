import 'reflect-metadata';
import { writeFileSync } from 'node:fs';
import { NestFactory } from '@nestjs/core';
import { loadEnv } from '@app/config';
import { ApiModule, AREAS } from './api.module.js';
import { createAdapter } from './configure-app.js';
import { tagsOf } from './http/openapi/area.decorator.js';
import { buildDocument } from './http/openapi/document.js';

// Writes the OpenAPI document into the named file, or prints it. Needs no database: only declarations are read.
const [target] = process.argv.slice(2);
const env = loadEnv({ LOG_LEVEL: 'silent', ENCRYPTION_KEY: '0'.repeat(64) }, {});
const app = await NestFactory.create(ApiModule.forRoot(env, { connected: false }), createAdapter(), { logger: false });
const text = `${JSON.stringify(buildDocument(app, tagsOf(AREAS)), null, 2)}\n`;
if (target) writeFileSync(target, text);
// A pipe takes the text in pieces: the process ends after the last one, or once nobody reads any more (`| head`).
else await new Promise((ended) => process.stdout.once('error', ended).write(text, ended));
process.exit(0);
