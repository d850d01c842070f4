import { expect } from 'vitest';
import { image } from '../data/images.js';
import { fixture } from '../process/fixture.js';
import { type UploadAnswer, Uploads } from './uploads.js';

/** Uploads for specs of what is refused, and an image that is accepted. Call it at the top level of the file. */
export async function refusedUploads(): Promise<{ uploads: Uploads; png: Buffer }> {
  const uploads = await fixture(Uploads.open());
  const png = await image('png');
  // Creates the storage's folders.
  expect((await uploads.send(png)).status).toBe(201);
  return { uploads, png };
}

export function codeOf({ text }: UploadAnswer): string {
  return (JSON.parse(text) as { error: { code: string } }).error.code;
}

/** Each fault's location and type. */
export function faultsOf({ text }: UploadAnswer): [string, string][] {
  const { detail } = JSON.parse(text) as { detail: { loc: string[]; type: string }[] };
  return detail.map(({ loc, type }) => [loc.join('.'), type]);
}
