export { ErasedList, type ErasedPerson } from './erased-list.js';
export { ErasureModule } from './erasure.module.js';
export { type Kept, Retention } from './retention.js';
export { type Erased, Erasure, type Wanted } from './erasure.js';
