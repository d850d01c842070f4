export { Storage, type StoredObject } from './storage.js';
export { mediaFolder } from './disk-storage.js';
export { storageOf, StorageModule } from './storage.module.js';
