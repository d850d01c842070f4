export { allocate, type Allocation, type Credit, type Debt, type OpenInvoice, refund, settle } from './allocation.js';
export { billOf, type PayTerms, payOf, type PlacePrice, priceOf, shareOf } from './amounts.js';
