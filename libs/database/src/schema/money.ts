import { emits, partOf } from './emits.js';
import { amount, counted, inRange, MOST_CENTS, rule, secure } from './rules.js';
import { INVOICE } from './states.js';

/** SQL: what the adjustment note of the invoice `i` is stored under. */
export const ADJUSTMENT_NOTE = (i: string): string => `md5('adjustment note of ' || ${i}.id)::uuid`;

/** Invoices, payments and what tutors get. Amounts are integer cents below 10^12, so that sums stay far below 2^53. */
export const money = /* sql */ `
  CREATE TABLE adjustments (
    id uuid PRIMARY KEY,
    organization_id uuid NOT NULL REFERENCES organizations,
    tutor_id uuid NOT NULL,
    period_start date NOT NULL,
    period_end date NOT NULL,
    amount_cents bigint NOT NULL ${amount('amount_cents', -MOST_CENTS)},
    note text,
    voided boolean NOT NULL DEFAULT false,
    voided_at timestamptz(3),
    created_at timestamptz(3) NOT NULL DEFAULT now(),
    FOREIGN KEY (organization_id, tutor_id) REFERENCES members (organization_id, user_id)
  );
  ${rule('adjustments', 'something', 'amount_cents <> 0', 'amount_cents', 'must not be 0')}
  ${rule('adjustments', 'order', 'period_end >= period_start', 'period_end', 'must not be before period_start')}
  CREATE INDEX adjustments_keyset ON adjustments (organization_id, created_at, id);
  CREATE INDEX adjustments_live_keyset ON adjustments (organization_id, created_at, id) WHERE NOT voided;
  ${inRange('adjustments', 'period_start', 'id, voided')}
  CREATE INDEX adjustments_tutor_keyset ON adjustments (organization_id, tutor_id, created_at, id)
    INCLUDE (voided, period_start);
  CREATE INDEX adjustments_earned ON adjustments (organization_id, tutor_id, period_start) INCLUDE (amount_cents)
    WHERE NOT voided;
  ${emits('adjustments', {
    ...{
      plain: ['created'],
      resource: 'adjustment',
      noun: 'a payroll adjustment',
      list: '/v1/adjustments',
      never: ['voided_at'],
    },
    verbs: { voided: { says: 'A payroll adjustment was taken back.', updated: 'n.voided AND NOT o.voided' } },
  })}
  ${secure('adjustments')}

  -- Money that a tutor was paid: for one session, which is paid once, or for others. is_group: of a session with a group,
  -- a classroom or several students; null without a session. counts_at is derived: when the session begins, or else paid_at.
  -- recorded: by this service, rather than imported. taken_back: taken back as a mistake, so that it counts nowhere.
  CREATE TABLE payouts (
    id uuid PRIMARY KEY,
    organization_id uuid NOT NULL REFERENCES organizations,
    tutor_id uuid NOT NULL,
    session_id uuid,
    amount_cents bigint NOT NULL ${amount('amount_cents', 1)},
    currency text NOT NULL CHECK (currency ~ '^[A-Z]{3}$'),
    is_group boolean,
    paid_at timestamptz(3) NOT NULL,
    counts_at timestamptz(3) NOT NULL,
    recorded boolean NOT NULL DEFAULT false,
    taken_back boolean NOT NULL DEFAULT false,
    taken_back_at timestamptz(3),
    void_reason text CHECK (char_length(void_reason) BETWEEN 1 AND 500),
    created_at timestamptz(3) NOT NULL DEFAULT now(),
    FOREIGN KEY (organization_id, tutor_id) REFERENCES members (organization_id, user_id),
    FOREIGN KEY (organization_id, session_id) REFERENCES sessions (organization_id, id)
  );
  CREATE UNIQUE INDEX payouts_session ON payouts (organization_id, session_id) WHERE NOT taken_back;
  CREATE INDEX payouts_keyset ON payouts (organization_id, created_at, id);
  CREATE INDEX payouts_live_keyset ON payouts (organization_id, created_at, id) WHERE NOT taken_back;
  ${inRange('payouts', 'paid_at', 'id, taken_back')}
  CREATE INDEX payouts_tutor_keyset ON payouts (organization_id, tutor_id, created_at, id) INCLUDE (taken_back, paid_at);
  CREATE INDEX payouts_taken_back ON payouts (organization_id, taken_back_at) WHERE taken_back;
  CREATE INDEX payouts_earned ON payouts (organization_id, tutor_id, counts_at) INCLUDE (amount_cents) WHERE NOT taken_back;
  CREATE TRIGGER count_payout BEFORE INSERT ON payouts FOR EACH ROW EXECUTE FUNCTION count_payout();
  CREATE TRIGGER move_payout AFTER UPDATE OF starts_at ON sessions
    FOR EACH ROW WHEN (OLD.starts_at <> NEW.starts_at) EXECUTE FUNCTION move_payout();
  ${emits('payouts', {
    ...{
      plain: [],
      resource: 'payout',
      noun: 'a payout',
      list: '/v1/payouts',
      as: { taken_back_at: 'voided_at' },
      never: ['counts_at', 'recorded', 'taken_back'],
    },
    verbs: {
      recorded: { says: 'A tutor was paid.', inserted: 'true' },
      voided: { says: 'A payout was taken back as a mistake.', updated: 'n.taken_back AND NOT o.taken_back' },
    },
  })}
  ${secure('payouts')}

  -- invoice_number: null until the invoice is issued; serial: the number in it, for numbers like INV-000001. due_date is a day
  -- in the organization's time zone. collecting: the student's draft to which completed sessions are added. rebilled: when it was
  -- voided, its lines went back to that draft. snapshot: whatever else its paper says, as it was when the invoice was issued, with the
  -- tax in tax_cents and the parent who was billed; null of drafts, and of those that were imported. person_erased: its student or that
  -- parent was erased, so that only owners are shown its paper. sent_to: the address that it was mailed to last, at mailed_at; a parent
  -- who was mailed one that named the student is billed_parent_id from then on. adjustment_note_number: of the note that takes back a
  -- void one in which tax was charged, made on adjusted_on.
  CREATE TABLE invoices (
    id uuid PRIMARY KEY,
    organization_id uuid NOT NULL REFERENCES organizations,
    invoice_number text,
    tutor_id uuid,
    student_id uuid NOT NULL,
    status text NOT NULL CHECK (${INVOICE.check('status')}),
    amount_due_cents bigint NOT NULL ${amount('amount_due_cents', -MOST_CENTS)},
    amount_paid_cents bigint NOT NULL DEFAULT 0 ${amount('amount_paid_cents')},
    currency text NOT NULL CHECK (currency ~ '^[A-Z]{3}$'),
    due_date date,
    sent_at timestamptz(3),
    paid_at timestamptz(3),
    created_at timestamptz(3) NOT NULL DEFAULT now(),
    serial bigint GENERATED ALWAYS AS (substring(invoice_number from '^INV-([0-9]{1,18})$')::bigint) STORED,
    collecting boolean NOT NULL DEFAULT false,
    rebilled boolean NOT NULL DEFAULT false,
    snapshot jsonb,
    tax_cents bigint ${amount('tax_cents', -MOST_CENTS)},
    billed_parent_id uuid,
    person_erased boolean NOT NULL DEFAULT false,
    sent_to text CHECK (char_length(sent_to) <= 254),
    mailed_at timestamptz(3),
    adjustment_note_number text,
    adjusted_on date,
    adjustment_note_serial bigint GENERATED ALWAYS AS (substring(adjustment_note_number from '^ADJ-([0-9]{1,18})$')::bigint) STORED,
    UNIQUE (organization_id, id),
    UNIQUE (organization_id, invoice_number),
    UNIQUE (organization_id, adjustment_note_number),
    FOREIGN KEY (organization_id, tutor_id) REFERENCES members (organization_id, user_id),
    FOREIGN KEY (organization_id, student_id) REFERENCES members (organization_id, user_id),
    FOREIGN KEY (organization_id, billed_parent_id) REFERENCES parents (organization_id, user_id),
    CHECK ((snapshot IS NULL) = (tax_cents IS NULL) AND (status <> 'draft' OR snapshot IS NULL)),
    CHECK ((adjustment_note_number IS NULL) = (adjusted_on IS NULL) AND (adjustment_note_number IS NULL OR status = 'void' AND tax_cents > 0))
  );
  ${rule('invoices', 'number', `status = 'draft' OR invoice_number IS NOT NULL`, 'invoice_number', 'must not be null unless status is draft')}
  ${rule('invoices', 'sum', `status = 'draft' OR amount_due_cents >= 0`, 'amount_due_cents', 'must be at least 0 unless status is draft')}
  ${rule('invoices', 'collected', `status = 'draft' OR NOT collecting`, 'status', 'must be draft to collect lessons')}
  ${rule('invoices', 'paid', 'amount_paid_cents <= greatest(amount_due_cents, 0)', 'amount_paid_cents', 'must not be more than amount_due_cents')}
  ${rule('invoices', 'open', `status <> 'open' OR amount_paid_cents < amount_due_cents`, 'amount_paid_cents', 'must be less than amount_due_cents while status is open')}
  ${rule('invoices', 'unissued', `status <> 'draft' OR amount_paid_cents = 0`, 'amount_paid_cents', 'must be 0 while status is draft')}
  CREATE INDEX invoices_keyset ON invoices (organization_id, created_at, id);
  CREATE INDEX invoices_student_keyset ON invoices (organization_id, student_id, created_at, id) INCLUDE (status);
  CREATE INDEX invoices_status_keyset ON invoices (organization_id, status, created_at, id);
  -- Amounts are in no index, so that to bill a lesson or to pay a part writes none.
  CREATE INDEX invoices_open ON invoices (organization_id, student_id) WHERE status = 'open';
  CREATE INDEX invoices_issued ON invoices (organization_id, (coalesce(sent_at, created_at))) WHERE status <> 'draft';
  CREATE INDEX invoices_serial ON invoices (organization_id, serial) WHERE serial IS NOT NULL;
  CREATE INDEX invoices_adjustment_note_serial ON invoices (organization_id, adjustment_note_serial) WHERE adjustment_note_serial IS NOT NULL;
  CREATE INDEX invoices_billed_parent ON invoices (organization_id, billed_parent_id) WHERE billed_parent_id IS NOT NULL;
  CREATE UNIQUE INDEX invoices_collecting ON invoices (organization_id, student_id) WHERE collecting;
  ${emits('invoices', {
    ...{
      resource: 'invoice',
      noun: 'an invoice',
      list: '/v1/invoices',
      as: { snapshot: 'billed_to' },
      never: [
        'serial',
        'collecting',
        'rebilled',
        'billed_parent_id',
        'person_erased',
        'adjusted_on',
        'adjustment_note_serial',
      ],
    },
    verbs: {
      finalized: {
        says: 'An invoice got its number, and is owed.',
        updated: `o.status = 'draft' AND n.status = 'open'`,
      },
      paid: { says: 'An invoice was paid in full.', updated: `o.status <> 'paid' AND n.status = 'paid'` },
      voided: { says: 'An invoice was taken back.', updated: `o.status <> 'void' AND n.status = 'void'` },
      written_off: {
        says: 'An invoice was given up: nobody is asked for it any more.',
        updated: `o.status <> 'uncollectible' AND n.status = 'uncollectible'`,
      },
    },
  })}
  ${counted('invoices')}
  ${secure('invoices')}

  CREATE TABLE invoice_lines (
    id uuid PRIMARY KEY,
    organization_id uuid NOT NULL,
    invoice_id uuid NOT NULL,
    position integer NOT NULL CHECK (position >= 0),
    description text,
    quantity integer NOT NULL CHECK (quantity >= 0),
    unit_amount_cents bigint NOT NULL ${amount('unit_amount_cents', -MOST_CENTS)},
    amount_cents bigint NOT NULL ${amount('amount_cents', -MOST_CENTS)},
    item_type text CHECK (item_type IN ('session', 'material', 'fee', 'discount', 'other')),
    session_id uuid,
    tax text CHECK (tax IN ('taxable', 'free')),
    UNIQUE (organization_id, invoice_id, position),
    FOREIGN KEY (organization_id, invoice_id) REFERENCES invoices (organization_id, id),
    FOREIGN KEY (organization_id, session_id) REFERENCES sessions (organization_id, id)
  );
  CREATE INDEX invoice_lines_session ON invoice_lines (organization_id, session_id) WHERE session_id IS NOT NULL;
  ${partOf('invoice_lines', { of: 'invoices', resource: 'invoice', on: 'p.organization_id = c.organization_id AND p.id = c.invoice_id', fields: Object.fromEntries(['invoice_id', 'position', 'description', 'quantity', 'unit_amount_cents', 'amount_cents', 'item_type', 'session_id', 'tax'].map((column) => [column, ['line_items']])) })}
  ${secure('invoice_lines')}

  -- Who paid is a student or a parent. invoice_id: the invoice that the money was sent for, which it pays first. received_on is
  -- a day in the organization's time zone. recorded: by this service, rather than imported; only such money is applied to
  -- invoices (payment_allocations), and credit_cents is what is left of it. reference: what the bank or the payer calls it.
  -- taken_back_at: a canceled one that was taken back as a mistake. person_erased: whoever paid was erased, so that only owners are
  -- shown its receipt.
  CREATE TABLE payments (
    id uuid PRIMARY KEY,
    organization_id uuid NOT NULL REFERENCES organizations,
    session_id uuid,
    student_id uuid,
    tutor_id uuid,
    amount_cents bigint NOT NULL ${amount('amount_cents')},
    refund_amount_cents bigint ${amount('refund_amount_cents')},
    currency text NOT NULL CHECK (currency ~ '^[A-Z]{3}$'),
    payment_type text NOT NULL CHECK (payment_type IN ('card', 'bank_transfer', 'cash', 'external')),
    status text NOT NULL CHECK (status IN ('pending', 'succeeded', 'refunded', 'failed', 'disputed', 'canceled')),
    stripe_payment_intent_id text,
    created_at timestamptz(3) NOT NULL DEFAULT now(),
    parent_id uuid,
    invoice_id uuid,
    received_on date,
    reference text CHECK (char_length(reference) BETWEEN 1 AND 200),
    recorded boolean NOT NULL DEFAULT false,
    credit_cents bigint NOT NULL DEFAULT 0 ${amount('credit_cents')},
    taken_back_at timestamptz(3),
    void_reason text CHECK (char_length(void_reason) BETWEEN 1 AND 500),
    person_erased boolean NOT NULL DEFAULT false,
    UNIQUE (organization_id, id),
    CHECK (recorded OR credit_cents = 0),
    CHECK (credit_cents = 0 OR credit_cents + coalesce(refund_amount_cents, 0) <= amount_cents),
    FOREIGN KEY (organization_id, session_id) REFERENCES sessions (organization_id, id),
    FOREIGN KEY (organization_id, student_id) REFERENCES members (organization_id, user_id),
    FOREIGN KEY (organization_id, parent_id) REFERENCES parents (organization_id, user_id),
    FOREIGN KEY (organization_id, invoice_id) REFERENCES invoices (organization_id, id),
    FOREIGN KEY (organization_id, tutor_id) REFERENCES members (organization_id, user_id)
  );
  ${rule('payments', 'payer', 'student_id IS NULL OR parent_id IS NULL', 'parent_id', 'must be null if student_id is given')}
  ${rule('payments', 'refund', 'refund_amount_cents <= amount_cents', 'refund_amount_cents', 'must not be more than amount_cents')}
  CREATE INDEX payments_keyset ON payments (organization_id, created_at, id);
  CREATE INDEX payments_student_keyset ON payments (organization_id, student_id, created_at, id)
    INCLUDE (tutor_id, status) WHERE student_id IS NOT NULL;
  CREATE INDEX payments_parent_keyset ON payments (organization_id, parent_id, created_at, id) WHERE parent_id IS NOT NULL;
  CREATE INDEX payments_tutor_keyset ON payments (organization_id, tutor_id, created_at, id)
    INCLUDE (status) WHERE tutor_id IS NOT NULL;
  CREATE INDEX payments_status_keyset ON payments (organization_id, status, created_at, id);
  CREATE INDEX payments_student_credit ON payments (organization_id, student_id) WHERE credit_cents > 0;
  CREATE INDEX payments_parent_credit ON payments (organization_id, parent_id) WHERE credit_cents > 0;
  CREATE INDEX payments_reference_keyset ON payments (organization_id, reference, created_at, id) WHERE reference IS NOT NULL;
  CREATE INDEX payments_taken_back ON payments (organization_id, taken_back_at) WHERE taken_back_at IS NOT NULL;
  CREATE INDEX payments_invoice ON payments (organization_id, invoice_id) WHERE invoice_id IS NOT NULL;
  ${emits('payments', {
    ...{
      plain: ['updated'],
      resource: 'payment',
      noun: 'a payment',
      list: '/v1/payments',
      as: { taken_back_at: 'voided_at' },
      never: ['invoice_id', 'recorded', 'person_erased'],
    },
    verbs: {
      recorded: { says: 'A payment was received.', inserted: 'true' },
      voided: {
        says: 'A payment was taken back as a mistake.',
        updated: 'o.taken_back_at IS NULL AND n.taken_back_at IS NOT NULL',
      },
      refunded: {
        says: 'A payment was given back, or a part of it.',
        updated: 'coalesce(n.refund_amount_cents, 0) > coalesce(o.refund_amount_cents, 0)',
      },
    },
  })}
  ${secure('payments')}

  -- What of a payment pays an invoice now. Their ids are in the order in which the money was applied.
  CREATE TABLE payment_allocations (
    id uuid PRIMARY KEY,
    organization_id uuid NOT NULL,
    payment_id uuid NOT NULL,
    invoice_id uuid NOT NULL,
    amount_cents bigint NOT NULL ${amount('amount_cents', 1)},
    created_at timestamptz(3) NOT NULL DEFAULT now(),
    FOREIGN KEY (organization_id, payment_id) REFERENCES payments (organization_id, id),
    FOREIGN KEY (organization_id, invoice_id) REFERENCES invoices (organization_id, id)
  );
  CREATE INDEX payment_allocations_payment ON payment_allocations (organization_id, payment_id, id);
  CREATE INDEX payment_allocations_invoice ON payment_allocations (organization_id, invoice_id, id);
  ${partOf('payment_allocations', { of: 'payments', resource: 'payment', on: 'p.organization_id = c.organization_id AND p.id = c.payment_id', fields: { payment_id: ['allocations'], invoice_id: ['allocations'], amount_cents: ['allocations'] } })}
  ${secure('payment_allocations')}
`;
