import 'reflect-metadata';
import { writeFileSync } from 'node:fs';
import { NestFactory } from '@nestjs/core';
import { loadEnv } from '@app/config';
import { ApiModule, AREAS } from './api.module.js';
import { createAdapter } from './configure-app.js';
import { tagsOf } from './http/openapi/area.decorator.js';
import { buildDocument } from './http/openapi/document.js';

// `npm run openapi`: writes the document that is committed. It needs no database: only declarations are read.
const [target] = process.argv.slice(2);
const env = loadEnv({ LOG_LEVEL: 'silent', ENCRYPTION_KEY: '0'.repeat(64) }, {});
const app = await NestFactory.create(ApiModule.forRoot(env, { connected: false }), createAdapter(), { logger: false });
const text = `${JSON.stringify(buildDocument(app, tagsOf(AREAS)), null, 2)}\n`;
if (target) writeFileSync(target, text);
else process.stdout.write(text);
process.exit(0);
