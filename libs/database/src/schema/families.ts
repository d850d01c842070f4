import { secure } from './rules.js';

/** The kinds of mail that tell what has happened to a lesson. */
export const LESSON_NEWS = ['lessons_booked', 'lessons_moved', 'lessons_cancelled'] as const;

/** What families and tutors are told by mail, beside invoices. */
export const families = /* sql */ `
  -- The kinds of mail that an organization has switched on, and since when. Nothing without a row.
  CREATE TABLE family_switches (
    organization_id uuid NOT NULL REFERENCES organizations,
    kind text NOT NULL CHECK (kind IN ('${LESSON_NEWS.join("', '")}', 'lessons_tomorrow', 'reminders')),
    created_at timestamptz(3) NOT NULL DEFAULT now(),
    PRIMARY KEY (organization_id, kind)
  );
  ${secure('family_switches')}

  -- How far the worker has come with an organization's mails. position: of the last event that was looked at for news of lessons; null until
  -- what is booked already has been noted. evening_on: the day on whose evening the lessons of the next day were told last, to all people up to
  -- evening_after; null after the last one. reminded_at: when invoices were looked at last.
  CREATE TABLE family_rounds (
    organization_id uuid PRIMARY KEY REFERENCES organizations,
    position bigint,
    evening_on date,
    evening_after uuid,
    reminded_at timestamptz(3)
  );
  ${secure('family_rounds')}

  -- What somebody was told last of a lesson ahead: its time, tutor, subject and mode, and which of their children take part; null for nothing. mail_at: it
  -- may be otherwise by now, and a mail that is due then says so, if it still is. doubts: what else mails may have said, of which nobody knows whether they
  -- have arrived.
  CREATE TABLE lesson_tellings (
    organization_id uuid NOT NULL REFERENCES organizations,
    user_id uuid NOT NULL,
    session_id uuid NOT NULL,
    starts_at timestamptz(3) NOT NULL,
    told jsonb,
    doubts jsonb,
    mail_at timestamptz(3),
    PRIMARY KEY (organization_id, user_id, session_id)
  );
  CREATE INDEX lesson_tellings_session ON lesson_tellings (organization_id, session_id);
  CREATE INDEX lesson_tellings_old ON lesson_tellings (starts_at);
  ${secure('lesson_tellings')}

  -- What an address, as addresses are compared, wants no more of from the organization.
  CREATE TABLE mail_opt_outs (
    organization_id uuid NOT NULL REFERENCES organizations,
    address text NOT NULL CHECK (char_length(address) <= 254),
    kind text NOT NULL CHECK (kind IN ('lessons', 'reminders')),
    created_at timestamptz(3) NOT NULL DEFAULT now(),
    PRIMARY KEY (organization_id, address, kind)
  );
  ${secure('mail_opt_outs')}

  -- What the link in the mails to an address ends with: it leads to the choice of mails, and to nothing else.
  CREATE TABLE mail_links (
    token uuid PRIMARY KEY DEFAULT gen_random_uuid(),
    organization_id uuid NOT NULL REFERENCES organizations,
    address text NOT NULL CHECK (char_length(address) <= 254),
    created_at timestamptz(3) NOT NULL DEFAULT now(),
    UNIQUE (organization_id, address)
  );
  ${secure('mail_links')}

  -- Which reminders of an invoice have been queued: each once for a due date.
  CREATE TABLE invoice_reminders (
    organization_id uuid NOT NULL REFERENCES organizations,
    invoice_id uuid NOT NULL,
    due_date date NOT NULL,
    days integer NOT NULL,
    created_at timestamptz(3) NOT NULL DEFAULT now(),
    PRIMARY KEY (organization_id, invoice_id, due_date, days),
    FOREIGN KEY (organization_id, invoice_id) REFERENCES invoices (organization_id, id)
  );
  ${secure('invoice_reminders')}
`;
