export { allocate, type Allocation, type Credit, type Debt, type OpenInvoice, refund, settle } from './allocation.js';
export { billOf, type PayTerms, payOf, type ParticipantRates, priceOf, shareOf } from './amounts.js';
export { sumsOf } from './balance.js';
export { BillingModule } from './billing.module.js';
export { type Attended, Completion, isTooLate, OWN_DAYS } from './completion.js';
export { type InvoiceInMail, InvoiceMails } from './invoice-mails.js';
export { Invoices, type WrittenLine } from './invoices.js';
export { isBilled } from './lessons.js';
export { dayFaults, Payments, type Received } from './payments.js';
export { adjustmentFaults, Adjustments, type NewAdjustment } from './pay/adjustments.js';
export { type ClaimAction, type ClaimKind, Claims, EXPENSE_CLAIMS, LoggedClaims, MILEAGE_TRIPS } from './pay/claims.js';
export { Earnings, type EarningsOf, type EarningsPeriod } from './pay/earnings.js';
export { RATE_BANDS, RATE_CELLS, TUTOR_TIERS } from './prices.js';
export { type CellEdit, type RateRow, RateTable, type Replaced } from './rate-table.js';
export { type Due, type PayPeriod, PayRun } from './pay/pay-run.js';
export { PayModule } from './pay/pay.module.js';
export { type ReceiptInMail, ReceiptMails } from './receipt-mails.js';
export {
  readsInvoice,
  type SeenBalance,
  seenBalance,
  type SeenInvoice,
  seenInvoices,
  type SeenPayment,
  seenPayments,
} from './seen-invoices.js';
export { SELLER_NOW, SHOWN_BUYER, type Snapshot, snapshotNow } from './snapshots.js';
export { taxIn } from './tax.js';
export { type NewPayout, Payouts } from './pay/payouts.js';
