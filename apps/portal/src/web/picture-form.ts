import express, { type Request } from 'express';
import { run } from './form-bodies.js';
import { PageError } from './page-error.js';

/** Allowance for boundaries and the other fields. */
const ENVELOPE_BYTES = 65_536;

/** A form with a picture, as browsers send it. */
export interface PictureForm {
  fields: Record<string, string>;
  /** Null if none was chosen. */
  picture: Buffer | null;
}

/** Reads the form into memory, once it is known who sends it. @returns null for one that is larger than a picture may be @throws PageError */
export async function readPicture(request: Request, most: number): Promise<PictureForm | null> {
  const read = express.raw({ type: 'multipart/form-data', limit: most + ENVELOPE_BYTES, inflate: false });
  try {
    await run(read, request, request.res!);
  } catch (error) {
    if ((error as { status?: number }).status === 413) return null;
    throw PageError.badForm();
  }
  const { body } = request as { body: unknown };
  if (!Buffer.isBuffer(body)) throw PageError.badForm();
  const form = await formIn(body as Buffer<ArrayBuffer>, request.get('Content-Type')!);
  const picture = form.get('picture');
  const bytes = picture instanceof File ? Buffer.from(await picture.arrayBuffer()) : null;
  if (bytes && bytes.length > most) return null;
  const fields = [...form].filter((field): field is [string, string] => typeof field[1] === 'string');
  return { fields: Object.fromEntries(fields), picture: bytes?.length ? bytes : null };
}

async function formIn(body: Buffer<ArrayBuffer>, type: string): Promise<FormData> {
  try {
    // eslint-disable-next-line @typescript-eslint/no-deprecated -- for bodies without a limit; this one is short and here already
    return await new globalThis.Response(body, { headers: { 'Content-Type': type } }).formData();
  } catch {
    throw PageError.badForm();
  }
}
