/** A file for a spreadsheet: its columns as SQL, by their headings. Amounts are bigint. */
export interface Sheet {
  file: string;
  columns: Record<string, string>;
  /** SQL from FROM on; the organization is `$1`. Ordered. */
  from: string;
}

/** People as the organization sees them, by id. */
export const PEOPLE = `people AS MATERIALIZED (
  SELECT t.user_id AS id, min(CASE WHEN t.accepted_at IS NULL THEN t.supplied_first_name || ' ' || t.supplied_last_name
      ELSE u.first_name || ' ' || u.last_name END) AS name,
    min(CASE WHEN t.accepted_at IS NULL THEN t.supplied_email WHEN NOT u.placeholder_email THEN u.email END) AS email,
    min(CASE WHEN t.accepted_at IS NULL THEN t.supplied_phone ELSE u.phone END) AS phone
  FROM (SELECT user_id, accepted_at, supplied_first_name, supplied_last_name, supplied_email, supplied_phone FROM members WHERE organization_id = $1
    UNION ALL SELECT user_id, accepted_at, supplied_first_name, supplied_last_name, supplied_email, supplied_phone FROM parents
      WHERE organization_id = $1) t LEFT JOIN users u ON u.id = t.user_id GROUP BY t.user_id),
  zone AS (SELECT time_zone AS tz FROM organizations WHERE id = $1)`;

const person = (id: string, column = 'name') => `(SELECT who.${column} FROM people who WHERE who.id = ${id})`;
/** In the time zone of the organization. */
const at = (time: string) => `to_char(${time} AT TIME ZONE (SELECT tz FROM zone), 'YYYY-MM-DD HH24:MI')`;
const day = (time: string) => `to_char(${time} AT TIME ZONE (SELECT tz FROM zone), 'YYYY-MM-DD')`;
const mine = (table: string, alias: string, order = 'created_at, id') =>
  `FROM ${table} ${alias} WHERE ${alias}.organization_id = $1 ORDER BY ${order.replaceAll(/\w+/g, (column) => `${alias}.${column}`)}`;
const subject = (id: string) =>
  `(SELECT named.name FROM subjects named WHERE named.organization_id = $1 AND named.id = ${id})`;
const students = (
  session: string,
) => `(SELECT string_agg(${person('l.student_id')}, ', ' ORDER BY l.created_at, l.id) FROM lesson_participants l
    WHERE l.organization_id = $1 AND l.session_id = ${session} AND l.status NOT IN ('removed', 'declined'))`;

/** What a bookkeeper and a teacher look at. */
export const SHEETS: Sheet[] = [
  {
    file: 'bookkeeper/invoices.csv',
    columns: {
      ...{ Number: 'i.invoice_number', Student: person('i.student_id'), Status: 'i.status', Issued: day('i.sent_at'), Due: `to_char(i.due_date, 'YYYY-MM-DD')` },
      ...{ Amount: 'i.amount_due_cents', Paid: 'i.amount_paid_cents', Currency: 'i.currency' },
    },
    from: mine('invoices', 'i'),
  },
  {
    file: 'bookkeeper/invoice lines.csv',
    columns: {
      ...{ Invoice: 'i.invoice_number', Student: person('i.student_id'), Description: 'l.description', Quantity: 'l.quantity' },
      ...{ 'Unit price': 'l.unit_amount_cents', Amount: 'l.amount_cents', Currency: 'i.currency' },
    },
    from: `FROM invoice_lines l JOIN invoices i ON i.organization_id = l.organization_id AND i.id = l.invoice_id
      WHERE l.organization_id = $1 ORDER BY i.created_at, i.id, l.position`,
  },
  {
    file: 'bookkeeper/payments.csv',
    columns: {
      ...{ Received: `coalesce(to_char(p.received_on, 'YYYY-MM-DD'), ${day('p.created_at')})`, 'Paid by': person('coalesce(p.parent_id, p.student_id)') },
      ...{ Type: 'p.payment_type', Status: 'p.status', Amount: 'p.amount_cents', Refunded: 'p.refund_amount_cents' },
      ...{ 'Taken back': day('p.taken_back_at'), Reference: 'p.reference', Currency: 'p.currency' },
    },
    from: mine('payments', 'p'),
  },
  {
    file: 'bookkeeper/payouts.csv',
    columns: {
      ...{ Paid: day('o.paid_at'), Tutor: person('o.tutor_id'), Amount: 'o.amount_cents', Currency: 'o.currency' },
      ...{ Lesson: `(SELECT ${at('s.starts_at')} FROM sessions s WHERE s.organization_id = $1 AND s.id = o.session_id)`, 'Taken back': day('o.taken_back_at') },
    },
    from: mine('payouts', 'o'),
  },
  {
    file: 'bookkeeper/trips.csv',
    columns: {
      ...{ Date: `to_char(m.trip_date, 'YYYY-MM-DD')`, Tutor: person('m.tutor_id'), Kilometers: 'm.distance_km', Amount: 'm.amount_cents' },
      ...{ Destination: 'm.destination', Status: 'm.status' },
    },
    from: mine('mileage_trips', 'm'),
  },
  {
    file: 'bookkeeper/expenses.csv',
    columns: {
      ...{ Date: `to_char(e.expense_date, 'YYYY-MM-DD')`, Tutor: person('e.tutor_id'), Category: 'e.category', Vendor: 'e.vendor' },
      ...{ Amount: 'e.amount_cents', Approved: 'e.approved_amount_cents', Status: 'e.status' },
    },
    from: mine('expense_claims', 'e'),
  },
  {
    file: 'teacher/students.csv',
    columns: {
      ...{ Name: person('m.user_id'), Email: person('m.user_id', 'email'), Phone: person('m.user_id', 'phone'), Status: 'm.status', Since: day('m.created_at') },
      Parents: `(SELECT string_agg(${person('c.parent_id')}, ', ' ORDER BY c.linked_at, c.parent_id) FROM parent_students c
        WHERE c.organization_id = $1 AND c.student_id = m.user_id)`,
    },
    from: `FROM members m WHERE m.organization_id = $1 AND m.role = 'student' ORDER BY m.created_at, m.user_id`,
  },
  {
    file: 'teacher/lessons.csv',
    columns: {
      ...{ Begins: at('s.starts_at'), Ends: at('s.ends_at'), Status: 's.status', Title: 's.title', Subject: subject('s.subject_id') },
      ...{ Tutor: person('s.tutor_id'), Students: students('s.id'), Place: 's.mode' },
    },
    from: mine('sessions', 's', 'starts_at, id'),
  },
  {
    file: 'teacher/homework.csv',
    columns: {
      ...{ Set: day('h.created_at'), Due: at('h.due_date'), Title: 'h.title', 'Set by': person('h.assigned_by'), For: 'h.scope' },
      ...{ Student: person('h.student_id'), Description: 'h.description' },
    },
    from: mine('homework', 'h'),
  },
  {
    file: 'teacher/results.csv',
    columns: {
      ...{ Student: person('r.student_id'), Kind: 'r.mode', Status: 'r.status', Grade: 'r.grade', Begun: at('r.started_at'), Completed: at('r.completed_at') },
    },
    from: mine('organization_results', 'r', 'created_at, result_id'),
  },
  {
    file: 'teacher/feedback.csv',
    columns: {
      ...{ Date: day('f.created_at'), Tutor: person('f.tutor_id'), From: 'f.reviewer_role', Rating: 'f.rating', Comment: 'f.comment' },
    },
    from: mine('session_feedback', 'f'),
  },
]; // prettier-ignore
