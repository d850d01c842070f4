export { type ByteRange, PrivateStorage, Storage, type StoredObject } from './storage.js';
export { mediaFolder } from './disk-storage.js';
export { privateStorageOf, storageOf, StorageModule } from './storage.module.js';
