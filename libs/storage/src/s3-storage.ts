import type { Readable } from 'node:stream';
import {
  DeleteObjectCommand,
  GetObjectCommand,
  HeadBucketCommand,
  PutObjectCommand,
  S3Client,
} from '@aws-sdk/client-s3';
import type { Env } from '@app/config';
import { type ByteRange, Storage, type StoredObject } from './storage.js';

/** Public objects are shown by browsers, and immutable. Nobody but the API reads private ones. */
const SHOWN = {
  public: { ContentDisposition: 'inline', CacheControl: 'public, max-age=31536000, immutable' },
  private: { ContentDisposition: 'attachment', CacheControl: 'private, no-store' },
};

/** Longer than any request to a healthy service takes (ms), so that requests don't hang on an unhealthy one. */
const PATIENCE = 20_000;

/** Objects in an S3 bucket: everybody can read the public one. */
export class S3Storage extends Storage {
  private readonly client: S3Client;
  private readonly bucket: string;
  private readonly address: string;

  constructor(
    env: Env,
    private readonly kind: keyof typeof SHOWN,
  ) {
    super();
    this.bucket = env.need(kind === 'public' ? 'S3_BUCKET' : 'S3_PRIVATE_BUCKET');
    const endpoint = env.get('S3_ENDPOINT');
    const region = env.get('S3_REGION');
    const accessKeyId = env.get('S3_ACCESS_KEY_ID');
    const secretAccessKey = env.get('S3_SECRET_ACCESS_KEY');
    this.address =
      env.get('S3_PUBLIC_URL') ??
      (endpoint ? `${endpoint}/${this.bucket}` : `https://${this.bucket}.s3.${region}.amazonaws.com`);
    this.client = new S3Client({
      region,
      ...(endpoint && { endpoint, forcePathStyle: true }),
      ...(accessKeyId && secretAccessKey && { credentials: { accessKeyId, secretAccessKey } }),
      // S3-compatible services reject the newer checksums.
      requestChecksumCalculation: 'WHEN_REQUIRED',
      responseChecksumValidation: 'WHEN_REQUIRED',
      requestHandler: { connectionTimeout: 2_000 },
    });
  }

  override async put(path: string, { contentType, size, open }: StoredObject): Promise<void> {
    const object = { Body: open(), ContentLength: size, ContentType: contentType };
    const command = new PutObjectCommand({ Bucket: this.bucket, Key: path, ...object, ...SHOWN[this.kind] });
    await this.client.send(command, inTime());
  }

  override async read(path: string, range?: ByteRange): Promise<Readable | null> {
    const wanted = range && { Range: `bytes=${range.start}-${range.end}` };
    // Only until the answer begins: a slow client may read for longer.
    const impatient = new AbortController();
    const timer = setTimeout(() => impatient.abort(), PATIENCE);
    try {
      const command = new GetObjectCommand({ Bucket: this.bucket, Key: path, ...wanted });
      const { Body } = await this.client.send(command, { abortSignal: impatient.signal });
      return Body as Readable;
    } catch (error) {
      if ((error as Error).name === 'NoSuchKey') return null;
      throw error;
    } finally {
      clearTimeout(timer);
    }
  }

  override async remove(path: string): Promise<void> {
    await this.client.send(new DeleteObjectCommand({ Bucket: this.bucket, Key: path }), inTime());
  }

  override urlOf(path: string): string {
    return `${this.address}/${path}`;
  }

  override async check(): Promise<void> {
    await this.client.send(new HeadBucketCommand({ Bucket: this.bucket }), inTime());
  }
}

const inTime = () => ({ abortSignal: AbortSignal.timeout(PATIENCE) });
