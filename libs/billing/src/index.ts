export { allocate, type Allocation, type OpenInvoice } from './allocation.js';
export { priceOf } from './amounts.js';
