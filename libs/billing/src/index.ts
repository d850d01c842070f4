export { allocate, type Allocation, type OpenInvoice } from './allocation.js';
export { priceOf } from './amounts.js';
export { Adjustments, type NewAdjustment } from './pay/adjustments.js';
export { type ClaimAction, type ClaimKind, Claims } from './pay/claims.js';
export { Earnings, type EarningsOf, type EarningsPeriod } from './pay/earnings.js';
export { PayModule } from './pay/pay.module.js';
export { type NewPayout, Payouts } from './pay/payouts.js';
