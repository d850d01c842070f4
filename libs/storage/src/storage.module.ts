import { Module } from '@nestjs/common';
import { Env } from '@app/config';
import { DiskStorage, mediaFolder, privateFolder } from './disk-storage.js';
import { PrivateStorage, Storage } from './storage.js';

/** The configured {@link Storage} and {@link PrivateStorage}. */
@Module({
  providers: [
    { provide: Storage, inject: [Env], useFactory: storageOf },
    { provide: PrivateStorage, inject: [Env], useFactory: privateStorageOf },
  ],
  exports: [Storage, PrivateStorage],
})
export class StorageModule {}

/** Loaded on demand: the S3 client is large and slow to load. */
export async function storageOf(env: Env): Promise<Storage> {
  if (env.get('STORAGE') === 'disk') return new DiskStorage(env, mediaFolder(env));
  const { S3Storage } = await import('./s3-storage.js');
  return new S3Storage(env, 'public');
}

/** Without a private bucket the service runs, but keeps no documents. */
export async function privateStorageOf(env: Env): Promise<PrivateStorage> {
  if (env.get('STORAGE') === 'disk') return new DiskStorage(env, privateFolder(env));
  if (env.get('S3_PRIVATE_BUCKET') === null) return { put: missing, read: missing, remove: missing, check: missing };
  const { S3Storage } = await import('./s3-storage.js');
  return new S3Storage(env, 'private');
}

/** What is kept, where, and which setting names the bucket. */
export const STORES = { images: [storageOf, 'S3_BUCKET'], documents: [privateStorageOf, 'S3_PRIVATE_BUCKET'] } as const;

const missing = () => Promise.reject(new Error('S3_PRIVATE_BUCKET is not set: no documents can be kept'));
