export { allocate, type Allocation, type Credit, type Debt, type OpenInvoice, refund, settle } from './allocation.js';
export { billOf, type PayTerms, payOf, type PlacePrice, priceOf, shareOf } from './amounts.js';
export { BillingModule } from './billing.module.js';
export { type Attended, Completion } from './completion.js';
export { Invoices, type WrittenLine } from './invoices.js';
export { Payments, type Received } from './payments.js';
