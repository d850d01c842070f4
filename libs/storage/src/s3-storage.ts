import { DeleteObjectCommand, HeadBucketCommand, PutObjectCommand, S3Client } from '@aws-sdk/client-s3';
import type { Env } from '@app/config';
import { Storage, type StoredObject } from './storage.js';

/** Objects are immutable. */
const CACHE_CONTROL = 'public, max-age=31536000, immutable';

/** Longer than any request to a healthy service takes (ms), so that requests don't hang on an unhealthy one. */
const PATIENCE = 20_000;

/** Objects in a publicly readable S3 bucket. */
export class S3Storage extends Storage {
  private readonly client: S3Client;
  private readonly bucket: string;
  private readonly address: string;

  constructor(env: Env) {
    super();
    this.bucket = env.need('S3_BUCKET');
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
    const shown = { ContentDisposition: 'inline', CacheControl: CACHE_CONTROL };
    await this.client.send(new PutObjectCommand({ Bucket: this.bucket, Key: path, ...object, ...shown }), inTime());
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
