import { mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { connect } from 'node:net';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { TestApi } from './api.js';
import type { Factories } from '../data/factories.js';

export interface UploadAnswer {
  status: number;
  headers: Headers;
  text: string;
  body: { url: string; path: string; size_bytes: number };
}

/** How an upload differs from the default. */
export interface UploadWish {
  name?: string;
  field?: string;
  query?: string;
  key?: string;
  headers?: Record<string, string>;
  /** Replaces the file part. */
  parts?: Buffer;
}

const BOUNDARY = 'a-boundary-of-the-tests';

/** A file part of a multipart body. The name is not escaped. */
export function part(content: Buffer | string, { field = 'file', name = 'photo.jpg', type = 'image/jpeg' } = {}): Buffer {
  const disposition = `form-data; name="${field}"${name === '' ? '' : `; filename="${name}"`}`;
  const head = `--${BOUNDARY}\r\nContent-Disposition: ${disposition}\r\nContent-Type: ${type}\r\n\r\n`;
  return Buffer.concat([Buffer.from(head), Buffer.from(content), Buffer.from('\r\n')]);
}

/** A field without a file. */
export function field(name: string, value: string): Buffer {
  return Buffer.from(`--${BOUNDARY}\r\nContent-Disposition: form-data; name="${name}"\r\n\r\n${value}\r\n`);
}

export function multipart(...parts: Buffer[]): Buffer {
  return Buffer.concat([...parts, Buffer.from(`--${BOUNDARY}--\r\n`)]);
}

export const MULTIPART = `multipart/form-data; boundary=${BOUNDARY}`;

/** An organization that uploads images to its own storage. */
export class Uploads {
  private constructor(
    readonly api: TestApi,
    readonly make: Factories,
    readonly dataDir: string,
    readonly school: string,
    readonly key: string,
    readonly platformKey: string,
    /** Port to send requests to: the test application's by default, but a spec may set another. */
    public port: number,
  ) {}

  static async open(settings: Record<string, string> = {}): Promise<Uploads> {
    const dataDir = mkdtempSync(join(tmpdir(), 'tutoring-uploads-'));
    // Few database connections, because specs count descriptors.
    const api = await TestApi.start({ DATA_DIR: dataDir, DATABASE_POOL_SIZE: '5', ...settings });
    const { id } = await api.make.organization();
    const key = await api.key(id, { scopes: ['read', 'blog:write'] });
    const platformKey = await api.key(id, { scopes: ['read', 'blog:write'], platformBlog: true });
    const { port } = api.server.address() as AddressInfo;
    return new Uploads(api, api.make, dataDir, id, key, platformKey, port);
  }

  async stop(): Promise<void> {
    await this.api.stop();
    rmSync(this.dataDir, { recursive: true, force: true });
  }

  /** Uploads a file. */
  async send(file: Buffer | string, wish: UploadWish = {}): Promise<UploadAnswer> {
    const { name = 'photo.jpg', field: into = 'file', query = '', key = this.key, headers = {}, parts } = wish;
    const response = await fetch(`http://127.0.0.1:${this.port}/v1/blog-images${query}`, {
      method: 'POST',
      headers: { Authorization: `Token token=${key}`, 'Content-Type': MULTIPART, ...headers },
      body: new Uint8Array(parts ?? multipart(part(file, { name, field: into }))),
    });
    const text = await response.text();
    return { status: response.status, headers: response.headers, text, body: JSON.parse(text || 'null') as never };
  }

  /** Fetches an image without a key. Always uses this run's port, whatever the image's public URL says. */
  media(path: string, init: RequestInit = {}): Promise<Response> {
    return fetch(`http://127.0.0.1:${this.port}/media/${path}`, init);
  }

  async bytes(path: string): Promise<Buffer> {
    return Buffer.from(await (await this.media(path)).arrayBuffer());
  }

  /** All files in the storage folder. */
  files(): string[] {
    return readdirSync(join(this.dataDir, 'media'), { recursive: true, withFileTypes: true })
      .filter((entry) => entry.isFile())
      .map((entry) => join(entry.parentPath, entry.name));
  }

  /** Sends bytes until there is an answer. @returns its status */
  flood(head: string): Promise<number> {
    return new Promise((resolve, reject) => {
      const chunk = Buffer.alloc(65_536, 0x61);
      const socket = connect(this.port, '127.0.0.1', () => {
        socket.write(head);
        pour();
      });
      const pour = () => {
        while (!socket.destroyed) if (!socket.write(chunk)) return;
      };
      socket.on('drain', pour);
      socket.once('error', reject);
      socket.once('data', (data) => {
        socket.destroy();
        resolve(Number(/^HTTP\/1\.1 (\d+)/.exec(data.toString('latin1'))?.[1]));
      });
    });
  }
}
