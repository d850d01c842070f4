import { Module } from '@nestjs/common';
import { Env } from '@app/config';
import { DiskStorage } from './disk-storage.js';
import { Storage } from './storage.js';

/** The configured {@link Storage}. */
@Module({
  providers: [{ provide: Storage, inject: [Env], useFactory: storageOf }],
  exports: [Storage],
})
export class StorageModule {}

/** Loaded on demand: the S3 client is large and slow to load. */
export async function storageOf(env: Env): Promise<Storage> {
  if (env.get('STORAGE') === 'disk') return new DiskStorage(env);
  const { S3Storage } = await import('./s3-storage.js');
  return new S3Storage(env);
}
