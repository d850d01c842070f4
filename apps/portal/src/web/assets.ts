import { createHash } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { Injectable } from '@nestjs/common';
import type { NextFunction, Request, Response } from 'express';

const FOLDER = fileURLToPath(new URL('../../assets/', import.meta.url));

const TYPES: Record<string, string> = { css: 'text/css', js: 'text/javascript', svg: 'image/svg+xml' };

/** Styles, scripts and pictures, read at start. Their URLs change with their content, so caches may keep them. */
@Injectable()
export class Assets {
  private readonly files = new Map<string, { type: string; content: Buffer }>();
  private readonly urls = new Map<string, string>();

  constructor() {
    for (const name of readdirSync(FOLDER)) {
      const file = readFileSync(`${FOLDER}${name}`);
      const content = name.endsWith('.css') ? Buffer.from(compact(file.toString())) : file;
      const [, stem = '', ending = ''] = /^(.+)\.([a-z]+)$/.exec(name) ?? [];
      const hash = createHash('sha256').update(content).digest('hex').slice(0, 10);
      const path = `/${stem}.${hash}.${ending}`;
      this.files.set(path, { type: TYPES[ending]!, content });
      this.urls.set(name, `/assets${path}`);
    }
  }

  /** @throws Error when there is no such file in apps/portal/assets */
  urlOf(name: string): string {
    const url = this.urls.get(name);
    if (!url) throw new Error(`There is no asset "${name}"`);
    return url;
  }

  /** Mounted at `/assets`. */
  readonly serve = (request: Request, response: Response, next: NextFunction): void => {
    const file = this.files.get(request.path);
    if (!file || (request.method !== 'GET' && request.method !== 'HEAD')) {
      next();
      return;
    }
    response.set({
      'Content-Type': `${file.type}; charset=utf-8`,
      'Cache-Control': 'public, max-age=31536000, immutable',
    });
    response.send(file.content);
  };
}

/** Comments and white space are for those who read the source. */
function compact(css: string): string {
  return css
    .replaceAll(/\/\*.*?\*\//gs, '')
    .replaceAll(/\s*([{};,])\s*|(:)\s+/g, '$1$2')
    .replaceAll(';}', '}');
}
