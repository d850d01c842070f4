import { Module } from '@nestjs/common';
import { Env } from '@app/config';
import { DiskStorage } from './disk-storage.js';
import { Storage } from './storage.js';

/** The one {@link Storage} that the configuration names. */
@Module({
  providers: [{ provide: Storage, inject: [Env], useFactory: storageOf }],
  exports: [Storage],
})
export class StorageModule {}

/** S3's client is large and slow to load: only who uses it pays for it. */
export async function storageOf(env: Env): Promise<Storage> {
  if (env.get('STORAGE') === 'disk') return new DiskStorage(env);
  const { S3Storage } = await import('./s3-storage.js');
  return new S3Storage(env);
}
