import { EVENT_NAMES, MOST_CENTS } from '@app/database';
import { LONGEST, SHORTEST } from '@app/scheduling';
import { Fault, isFault } from './fault.js';
import {
  cents, color, dayOfWeek, decimal, email, endTime, httpsLink, integer, type Kind, link, oneAmong, oneOf, phone, text, type TextRule, time, timeZone, uuid,
  wholeMinute,
} from './kinds.js'; // prettier-ignore
import { anything, json, listOf } from './nested.js';

/** The most that an hour can cost (cents). */
const MOST_RATE = 10_000_000;

const NO_EVENT = 'There is no such type of events: see GET /v1/event-types.';

const line = (max: number): Kind<string> => text({ min: 1, max, trim: true });
const texts = (item: TextRule, max: number): Kind<string[]> => listOf(text(item), { max });

const NAME = line(200);
const TITLE = line(300);
const PHONE = phone(0);
const NOTE = text({ min: 1, max: 500 });
const LONG_TEXT = text({ min: 1, max: 5000 });
const MINUTES = integer(SHORTEST, LONGEST);
const AMOUNT = cents(0, MOST_CENTS);
const RATE = cents(0, MOST_RATE);
/** A hundred million of the currency, some of which have small units: what is beyond was typed wrong. */
const MOST_PAYOUT = 10_000_000_000;
const POSTCODE = line(20);
const LABELS = texts({ min: 1, max: 100, trim: true }, 50);
const TAGS = texts({ min: 1, max: 100 }, 50);
const ADDRESS = link(2000);
const MEETING = httpsLink(500);
const CURRENCY = text({ max: 3, pattern: { shape: /^[A-Z]{3}$/, message: 'Must be an ISO 4217 code.' } });
const DAYS = ['monday', 'tuesday', 'wednesday', 'thursday', 'friday', 'saturday', 'sunday'] as const;

/** A place in a list, from the first. */
const SORT_ORDER = integer(-1_000_000, 1_000_000);

/** One of the two configured brands. */
const BRAND: Kind<string> = {
  schema: { type: 'string', examples: ['primary', 'secondary'] },
  parse: (raw, env) => oneAmong(env.get('BLOG_BRANDS'), raw),
};

const SLUG = {
  shape: /^[a-z0-9]+(?:-[a-z0-9]+)*$/,
  message: 'Must be lowercase letters and digits, with single hyphens between words.',
};
/** Readable, and never a UUID. */
const CODE = {
  shape: /^[a-z0-9]+(?:_[a-z0-9]+)*$/,
  message: 'Must be lowercase letters and digits, with single underscores between words.',
};
const HOURS = {
  max: 11,
  pattern: {
    shape: /^([01]\d|2[0-3]):[0-5]\d-(([01]\d|2[0-3]):[0-5]\d|24:00)$/,
    message: 'Must be hours as HH:MM-HH:MM, for example 16:00-18:00.',
  },
};
const SUPPLIED = {
  supplied_first_name: NAME,
  supplied_last_name: NAME,
  supplied_email: email,
  supplied_phone: PHONE,
};
const BILLING = { billing_name: NAME, billing_address: line(300) };

/** Invoices are numbered on from the highest of them, which a text beyond the digits of `invoices.serial` would stop. */
const NUMBER = text({
  min: 1,
  max: 50,
  trim: true,
  pattern: { shape: /^(?!INV-\d{16})/, message: 'Must have at most 15 digits after INV-.' },
});

/** The hours of one day, as in `preferred_times` of booking requests. */
export const hoursOfDay = listOf(text(HOURS), { max: 10 });

const EVENT = oneOf(EVENT_NAMES);

/** The name of a type of events, or `session.*`. */
const eventName: Kind<string> = {
  schema: { ...EVENT.schema, examples: ['session.completed'] },
  parse: (raw, env) => (isFault(EVENT.parse(raw, env)) ? new Fault('enum', NO_EVENT) : (raw as string)),
};

/**
 * What a column may hold, beyond what its type and its CHECKs say: the request classes of the API and the importer read the
 * same kinds. Ids, flags, days and closed sets of values need none.
 */
export const FIELDS = {
  users: { email, first_name: NAME, last_name: NAME, phone: PHONE },
  rate_bands: { name: NAME, sort_order: SORT_ORDER },
  tutor_tiers: { name: NAME, badge_label: NAME, description: LONG_TEXT, sort_order: SORT_ORDER },
  members: { ...SUPPLIED, ...BILLING, staff_notes: text({ min: 1, max: 10_000 }) },
  subjects: { name: NAME, code: text({ min: 1, max: 100, pattern: CODE }) },
  rate_cells: {
    student_rate_cents: RATE,
    inperson_surcharge_cents: RATE,
    tutor_pay_pct: decimal(0, 100, 2),
    tutor_flat_rate_cents: RATE,
  },
  tutor_profiles: {
    bio: text({ max: 5000 }),
    avatar_url: ADDRESS,
    handle: text({ min: 1, max: 100, pattern: SLUG }),
    home_suburb: NAME,
    home_postcode: POSTCODE,
    service_postcodes: texts({ min: 1, max: 20, trim: true }, 1000),
    max_travel_km: integer(0, 1_000),
    in_person_arrangements: LABELS,
    specialisations: LABELS,
    meeting_url: MEETING,
  },
  parents: { ...SUPPLIED, ...BILLING },
  classrooms: { name: NAME, price_cents: AMOUNT },
  student_groups: { name: NAME, rate_per_student_cents: AMOUNT, color, avatar_url: ADDRESS },
  sessions: {
    title: text({ min: 1, max: 200 }),
    starts_at: wholeMinute,
    ends_at: wholeMinute,
    duration_minutes: MINUTES,
    student_rate_cents: RATE,
    tutor_pay_rate_cents: RATE,
    meeting_url: MEETING,
    cancellation_reason: NOTE,
  },
  lesson_participants: { rate_cents: RATE },
  availabilities: { day_of_week: dayOfWeek, start_time: time, end_time: endTime, timezone: timeZone },
  time_off: { note: NOTE },
  leads: {
    name: NAME,
    email,
    phone: phone(1),
    subject: NAME,
    notes: LONG_TEXT,
    staff_notes: LONG_TEXT,
    source_url: ADDRESS,
    source_form_name: NAME,
  },
  booking_requests: {
    student_display_name: NAME,
    preferred_days: listOf(oneOf(DAYS), { max: DAYS.length, distinct: true }),
    duration_minutes: MINUTES,
    message: LONG_TEXT,
  },
  locations: { label: NAME, suburb: NAME, state: line(100), postcode: POSTCODE },
  lesson_plans: { title: TITLE, plan_data: json({ bytes: 262_144 }) },
  webhook_endpoints: {
    url: link(2000),
    event_types: listOf(eventName, { max: 200, distinct: true }),
    description: text({ min: 1, max: 500, trim: true }),
  },
  files: { title: TITLE, file_url: link(5000), link_url: link(5000) },
  questions: {
    topic: NAME,
    intro_text: text({ max: 20_000 }),
    tags: TAGS,
    total_marks: integer(0, 1_000),
    curriculum_level_ids: listOf(uuid, { max: 50, distinct: true }),
  },
  // What an import brings may refer to files in another way than requests do.
  homework: { title: TITLE, description: LONG_TEXT, files: listOf(anything, { max: 50 }) },
  results: { grade: integer(0, 100) },
  session_feedback: {
    rating: integer(1, 5),
    positive_tags: LABELS,
    improve_tags: LABELS,
    comment: text({ max: 5000 }),
  },
  messages: { content: LONG_TEXT },
  conversations: { title: NAME },
  inbox_messages: { guest_name: NAME, guest_email: email, message: LONG_TEXT },
  adjustments: { amount_cents: cents(-MOST_CENTS, MOST_CENTS), note: NOTE },
  payouts: { amount_cents: cents(1, MOST_PAYOUT), currency: CURRENCY },
  invoices: { invoice_number: NUMBER, currency: CURRENCY },
  invoice_lines: {
    description: NOTE,
    quantity: integer(1, 1_000),
    unit_amount_cents: cents(-1_000_000_000, 1_000_000_000),
  },
  payments: {
    amount_cents: cents(1, MOST_CENTS),
    refund_amount_cents: AMOUNT,
    currency: CURRENCY,
    reference: text({ min: 1, max: 200 }),
  },
  mileage_trips: {
    destination: NAME,
    // To the meter, so that an amount is computed without a fraction.
    distance_km: decimal(0, 10_000, 3),
    duration_minutes: integer(0, 10_000),
    vehicle: NAME,
    rate_cents: RATE,
    amount_cents: AMOUNT,
  },
  expense_claims: {
    vendor: NAME,
    amount_cents: cents(1, MOST_CENTS),
    approved_amount_cents: AMOUNT,
    receipt_photo_url: ADDRESS,
  },
  blog_posts: {
    brand: BRAND,
    title: text({ min: 1, max: 300 }),
    slug: text({ min: 1, max: 200, pattern: SLUG }),
    excerpt: text({ max: 2000 }),
    content: text({ max: 200_000 }),
    author: text({ max: 200 }),
    category: text({ max: 200 }),
    tags: TAGS,
    featured_image: ADDRESS,
  },
} satisfies Record<string, Record<string, Kind>>;
