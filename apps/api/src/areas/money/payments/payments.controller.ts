import { Payments } from '@app/billing';
import { listController, recordController, writeController } from '../../../http/kit.js';
import { paperController } from '../papers.js';
import { TakeBack } from '../taking-back.js';
import { receivedBy, RecordPayment, RefundPayment } from './payments.dto.js';
import { PAYMENT, PAYMENTS } from './payments.queries.js';

/** Accounts are locked before payments. */
const VERSIONED = {
  versions: PAYMENT,
  first: ({ organizationId, ids }: { organizationId: string; ids: { payment_id: string } }, payments: Payments) =>
    payments.lock(organizationId, ids.payment_id),
};

const RECEIPT = paperController({
  id: 'get_payment_receipt',
  path: 'v1/payments/:payment_id/receipt.pdf',
  kind: 'receipt',
  summary: 'Leads to the receipt of a payment',
  description:
    'It says what was received, when and from whom, and nothing of refunds and of what else it pays. It is made when it is first asked for, and its ' +
    'bytes stay the same from then on. Money that was not received, or was taken back as a mistake, is a 409. Once the payer was erased, only owners are shown it, in the portal: 404.',
});

export const PAYMENTS_CONTROLLERS = [
  listController(PAYMENTS),
  recordController(PAYMENT),
  RECEIPT,
  writeController({
    id: 'create_payment',
    route: 'POST /v1/payments',
    scope: 'payments:write',
    summary: 'Records money that was received',
    description:
      'Send exactly one of `student_id` and `parent_id`. The money pays open invoices: first the one that it was sent for, ' +
      'then the oldest due, a parent’s those of all linked children. What is left is credit, which pays what is issued later. With `receipt`, ' +
      'one mail with the receipt goes to that parent, or to whoever pays for the student; if nobody can be reached, nothing is recorded (409).',
    example: {
      student_id: '0190a6f2-5c1e-7d3a-9b4f-2e8c6d1a7f30',
      amount_cents: 12000,
      payment_type: 'bank_transfer',
      received_on: '2026-05-01',
    },
    body: RecordPayment,
    rules: [Payments],
    answers: PAYMENT,
    versions: PAYMENT,
    idName: 'payment_id',
    conflicts: ['invalid_state', 'no_payer', 'no_address'],
    run: ({ organizationId, body }, payments) => payments.record(organizationId, receivedBy(body)),
  }),
  writeController({
    id: 'refund_payment',
    route: 'POST /v1/payments/:payment_id/refund',
    status: 200,
    scope: 'payments:write',
    summary: 'Records money that went back',
    description:
      'It is taken from credit first, then from the invoices that the payment paid last, which are open again. The payment is ' +
      '`refunded` when all of it is back. Imported payments are a 409. Repeat it only with an `Idempotency-Key`.',
    example: { amount_cents: 4000 },
    body: RefundPayment,
    rules: [Payments],
    answers: PAYMENT,
    ...VERSIONED,
    conflicts: ['invalid_state'],
    run: ({ organizationId, ids, body }, payments) =>
      payments.refund(organizationId, ids.payment_id, body.amount_cents),
  }),
  writeController({
    id: 'void_payment',
    route: 'POST /v1/payments/:payment_id/void',
    status: 200,
    scope: 'payments:write',
    summary: 'Takes back a payment that was entered by mistake',
    description:
      'Within 24 hours of recording it, and before any refund: the payment is `canceled`, and what it paid is open again, unless ' +
      'other credit pays it. Imported payments are a 409. Again: unchanged; for another reason, a 409.',
    example: { reason: 'Typed one zero too many' },
    body: TakeBack,
    rules: [Payments],
    answers: PAYMENT,
    ...VERSIONED,
    conflicts: ['invalid_state'],
    run: ({ organizationId, ids, body }, payments) => payments.void(organizationId, ids.payment_id, body.reason),
  }),
];
