import { createHash } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import { type Readable, Transform, type Writable } from 'node:stream';
import type { Request, Response } from 'express';
import multer from 'multer';
import { TemporaryFile, TemporaryFileError } from '@app/images';
import { Fault } from '@app/fields';
import { ApiError, ValidationFailed } from '../errors/api-error.js';
import { isUnencoded } from './unencoded.js';

/** What is received. */
export interface Wanted {
  /** For the file alone (bytes). */
  most: number;
  /** For messages: "the image". */
  what: string;
}

/** Allowance for boundaries and the part's headers. */
const MOST_ENVELOPE_BYTES = 65_536;

/** The name of the one part. */
const PART = 'file';

/** A file as it was sent. The receiver closes it. */
export interface Received {
  file: TemporaryFile;
  /** From the client; untrusted. */
  name: string;
  sha256: Buffer;
}

/** Receives the single file of a multipart body on disk, and reads no more than needed to see that it is too large. @throws ApiError 413, 415 */
export async function receiveFile(request: IncomingMessage, wanted: Wanted): Promise<Received> {
  requireMultipart(request, wanted);
  if (Number(request.headers['content-length'] ?? 0) > wanted.most + MOST_ENVELOPE_BYTES) throw tooLarge(wanted);
  return parse(request, wanted);
}

function requireMultipart({ headers }: IncomingMessage, { what }: Wanted): void {
  const [type] = (headers['content-type'] ?? '').toLowerCase().split(';');
  if (type?.trim() === 'multipart/form-data' && isUnencoded(headers)) return;
  throw new ApiError('unsupported_media_type', `Send the ${what} as "Content-Type: multipart/form-data", unencoded.`);
}

/** A part, as the storage engine leaves it. */
interface Part {
  originalname: string;
  temporary: TemporaryFile;
  sha256: Buffer;
}

/** multer reads from this instead of the request, because it would wait for the end of a body that it has rejected. */
class Body extends Transform {
  private size = 0;
  /** Set by multer. */
  files?: Part[];
  /** Settles when the file has been stored. */
  kept?: Promise<unknown>;

  constructor(
    readonly headers: IncomingMessage['headers'],
    private readonly wanted: Wanted,
  ) {
    super();
  }

  override _transform(chunk: Buffer, _encoding: string, done: (error: Error | null, chunk?: Buffer) => void): void {
    this.size += chunk.length;
    if (this.size > this.wanted.most + MOST_ENVELOPE_BYTES) done(tooLarge(this.wanted));
    else done(null, chunk);
  }
}

async function parse(request: IncomingMessage, wanted: Wanted): Promise<Received> {
  // No further event would follow.
  if (request.destroyed) throw new ApiError('bad_request', 'The request ended before its body was complete.');
  const body = new Body(request.headers, wanted);
  const abandon = () => {
    if (!request.readableEnded) body.destroy();
  };
  // The request closes when it was read completely, or when its client is gone, although the rest may have arrived.
  request.once('close', abandon).pipe(body);
  try {
    await readParts(body, wanted);
  } catch (error) {
    // A file that cannot be written breaks its stream, and multer may report that first.
    const failure: unknown = await body.kept?.then(() => null, (reason: unknown) => reason); // prettier-ignore
    throw explain(failure instanceof TemporaryFileError ? failure : error, wanted);
  } finally {
    // The rest is read and thrown away, so that the connection can carry the response and the next request.
    request.off('close', abandon).unpipe(body).resume();
  }
  const [part] = body.files ?? [];
  if (!part) throw notOneFile('missing', wanted);
  return { file: part.temporary, name: part.originalname, sha256: part.sha256 };
}

function readParts(body: Body, wanted: Wanted): Promise<void> {
  const abandon = () => body.destroy();
  const options: multer.Options & { streamHandler: (request: unknown, parser: Writable) => void } = {
    storage: {
      _handleFile: (_request, { stream }, done) => {
        stream.once('limit', abandon);
        body.kept = keep(stream);
        body.kept.then(
          (part) => done(null, part as Partial<Express.Multer.File>),
          (error: unknown) => {
            done(error);
            abandon();
          },
        );
      },
      _removeFile: (_request, part, done) => {
        // This file was stored before another one was refused.
        (part as unknown as Part).temporary.close().then(() => done(null), done);
      },
    },
    limits: { files: 1, fields: 0, parts: 1, fileSize: wanted.most, fieldNameSize: 100, headerPairs: 20 },
    defParamCharset: 'utf8',
    // Without this, a name that is only a path would not count as a file.
    preservePath: true,
    fileFilter: (_request, { fieldname }, accept) => {
      if (fieldname === PART) {
        accept(null, true);
        return;
      }
      accept(notOneFile('value_error', wanted));
      abandon();
    },
    streamHandler: (_request, parser) => {
      // multer reports these only at the end of the body: stop here.
      for (const event of ['partsLimit', 'filesLimit', 'fieldsLimit', 'error']) parser.once(event, abandon);
      pipeToEnd(body, parser);
    },
  };
  return new Promise((resolve, reject) => {
    multer(options).any()(body as unknown as Request, {} as Response, (error?: Error | 'router' | 'route') => {
      if (error instanceof Error) reject(error);
      else resolve();
    });
  });
}

/** Ends the file with the body if busboy has not: after a boundary in the middle of a part's headers, it never would. */
function pipeToEnd(body: Body, parser: Writable): void {
  let file: Readable | undefined;
  parser.on('file', (_name: string, stream: Readable) => (file = stream));
  body.pipe(parser, { end: false });
  body.once('end', () => {
    // Called when everything before has been parsed.
    parser.write('', () => {
      parser.end();
      // Does nothing to a file that has ended.
      file?.push(null);
    });
  });
}

/** Writes the file to disk and hashes it on the way. */
async function keep(stream: Readable): Promise<Omit<Part, 'originalname'>> {
  const temporary = await TemporaryFile.create();
  try {
    const hash = createHash('sha256');
    for await (const chunk of stream as AsyncIterable<Buffer>) {
      hash.update(chunk);
      await temporary.append(chunk);
    }
    return { temporary, sha256: hash.digest() };
  } catch (error) {
    await temporary.close();
    throw error;
  }
}

function explain(error: unknown, wanted: Wanted): unknown {
  if (error instanceof ApiError || error instanceof TemporaryFileError) return error;
  if (error instanceof multer.MulterError) {
    return error.code === 'LIMIT_FILE_SIZE' ? tooLarge(wanted) : notOneFile('value_error', wanted);
  }
  const msg = 'The body is not complete multipart/form-data. Let your HTTP client build it, including the boundary.';
  return ValidationFailed.inBody(new Fault('value_error', msg));
}

function notOneFile(type: 'missing' | 'value_error', { what }: Wanted): ApiError {
  const msg = `Send exactly one part, named "${PART}", with the ${what} and its file name.`;
  return ValidationFailed.inBody(new Fault(type, msg, [PART]));
}

function tooLarge({ most }: Wanted): ApiError {
  const message = `The file is larger than ${most} bytes (${most / 1_048_576} MB).`;
  return new ApiError('payload_too_large', message, { limit: most });
}
