import { emits } from './emits.js';
import { amount, counted, inRange, rule, secure } from './rules.js';
import { CLAIM } from './states.js';

/** What tutors claim: trips and expenses. */
export const claims = /* sql */ `
  CREATE TABLE mileage_trips (
    id uuid PRIMARY KEY,
    organization_id uuid NOT NULL REFERENCES organizations,
    tutor_id uuid NOT NULL,
    session_id uuid,
    trip_date date NOT NULL,
    destination text,
    distance_km double precision NOT NULL CHECK (distance_km >= 0),
    duration_minutes integer CHECK (duration_minutes >= 0),
    vehicle text,
    tracking_method text CHECK (tracking_method IN ('manual', 'gps')),
    status text NOT NULL DEFAULT 'logged' CHECK (${CLAIM.check('status')}),
    rate_cents bigint ${amount('rate_cents')},
    amount_cents bigint ${amount('amount_cents')},
    approved_at timestamptz(3),
    created_at timestamptz(3) NOT NULL DEFAULT now(),
    FOREIGN KEY (organization_id, tutor_id) REFERENCES members (organization_id, user_id),
    FOREIGN KEY (organization_id, session_id) REFERENCES sessions (organization_id, id)
  );
  ${rule('mileage_trips', 'amount', `amount_cents IS NOT NULL OR status IN ('logged', 'rejected')`, 'amount_cents', 'must be given unless status is logged or rejected')}
  CREATE INDEX mileage_trips_keyset ON mileage_trips (organization_id, created_at, id);
  ${inRange('mileage_trips', 'trip_date', 'id')}
  CREATE INDEX mileage_trips_status_keyset ON mileage_trips (organization_id, status, created_at, id)
    INCLUDE (trip_date);
  CREATE INDEX mileage_trips_tutor_keyset ON mileage_trips (organization_id, tutor_id, created_at, id)
    INCLUDE (status, trip_date);
  ${emits('mileage_trips', {
    ...{ resource: 'mileage_trip', noun: 'a trip', list: '/v1/mileage' },
    verbs: {
      approved: { says: 'A trip was approved.', updated: `o.status <> 'approved' AND n.status = 'approved'` },
      rejected: { says: 'A trip was rejected.', updated: `o.status <> 'rejected' AND n.status = 'rejected'` },
      reimbursed: { says: 'A trip was reimbursed.', updated: `o.status <> 'reimbursed' AND n.status = 'reimbursed'` },
    },
  })}
  ${counted('mileage_trips')}
  ${secure('mileage_trips')}

  CREATE TABLE expense_claims (
    id uuid PRIMARY KEY,
    organization_id uuid NOT NULL REFERENCES organizations,
    tutor_id uuid NOT NULL,
    session_id uuid,
    expense_date date NOT NULL,
    category text CHECK (category IN ('parking', 'tolls', 'materials', 'training', 'other')),
    vendor text,
    amount_cents bigint NOT NULL ${amount('amount_cents')},
    approved_amount_cents bigint ${amount('approved_amount_cents')},
    status text NOT NULL DEFAULT 'logged' CHECK (${CLAIM.check('status')}),
    receipt_photo_url text,
    receipt_file_id uuid,
    approved_at timestamptz(3),
    created_at timestamptz(3) NOT NULL DEFAULT now(),
    FOREIGN KEY (organization_id, tutor_id) REFERENCES members (organization_id, user_id),
    FOREIGN KEY (organization_id, session_id) REFERENCES sessions (organization_id, id),
    FOREIGN KEY (organization_id, receipt_file_id) REFERENCES files (organization_id, id)
  );
  CREATE INDEX expense_claims_receipt ON expense_claims (organization_id, receipt_file_id) WHERE receipt_file_id IS NOT NULL;
  ${rule('expense_claims', 'receipt', 'receipt_photo_url IS NULL OR receipt_file_id IS NULL', 'receipt_file_id', 'must be null with receipt_photo_url')}
  ${rule('expense_claims', 'approved', 'approved_amount_cents <= amount_cents', 'approved_amount_cents', 'must not be more than amount_cents')}
  CREATE INDEX expense_claims_keyset ON expense_claims (organization_id, created_at, id);
  CREATE INDEX expense_claims_category_keyset ON expense_claims (organization_id, category, created_at, id)
    INCLUDE (expense_date);
  ${inRange('expense_claims', 'expense_date', 'id')}
  CREATE INDEX expense_claims_status_keyset ON expense_claims (organization_id, status, created_at, id)
    INCLUDE (category, expense_date);
  CREATE INDEX expense_claims_tutor_keyset ON expense_claims (organization_id, tutor_id, created_at, id)
    INCLUDE (status, category, expense_date);
  ${emits('expense_claims', {
    ...{
      resource: 'expense_claim',
      noun: 'an expense',
      list: '/v1/expenses',
      derived: { receipt_photo_url: (e) => `coalesce(${e}.receipt_photo_url, ${e}.receipt_file_id::text)` },
      never: ['receipt_photo_url'],
    },
    verbs: {
      approved: { says: 'An expense was approved.', updated: `o.status <> 'approved' AND n.status = 'approved'` },
      rejected: { says: 'An expense was rejected.', updated: `o.status <> 'rejected' AND n.status = 'rejected'` },
      reimbursed: {
        says: 'An expense was reimbursed.',
        updated: `o.status <> 'reimbursed' AND n.status = 'reimbursed'`,
      },
    },
  })}
  ${counted('expense_claims')}
  ${secure('expense_claims')}
`;
