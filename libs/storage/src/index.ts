export { type ByteRange, objectOf, PrivateStorage, Storage, type StoredObject } from './storage.js';
export { mediaFolder } from './disk-storage.js';
export { storageOf, StorageModule, STORES } from './storage.module.js';
