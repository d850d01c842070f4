import { VALUES } from '@app/database';
import { IDENTITY, OrganizationSettings, SELLER } from '@app/people';
import {
  enumOf, field, flag, instant, integer, json, kinds, nullable, objectOf, one, oneOf, recordController, Records, Source, text, uuid, View,
  writeController,
} from '../../http/kit.js'; // prettier-ignore

const RETENTION = `(SELECT coalesce(json_agg(json_build_object('kind', s.kind, 'months', s.months) ORDER BY s.kind), '[]')
  FROM retention_settings s WHERE s.organization_id = o.id)`;

const columns = {
  id: uuid('o.id'),
  name: nullable(text('o.name', 'Demo Tutoring')),
  slug: nullable(text('o.slug', 'demo')),
  time_zone: nullable(text('o.time_zone', 'Australia/Melbourne')),
  currency: nullable(text('o.currency', 'AUD')),
  payment_terms_days: nullable(integer('o.payment_terms_days', { minimum: 0, maximum: 365, examples: [14] })),
  app_url: nullable(text('o.app_url', 'https://app.example.org')),
  privacy_url: nullable(text('o.privacy_url', 'https://example.org/privacy')),
  postal_address: nullable(text('o.postal_address', '1 Example Street, Brunswick VIC 3056')),
  phone: nullable(text('o.phone', '+61 3 9000 0000')),
  legal_name: nullable(text('o.legal_name', 'Demo Tutoring Pty Ltd')),
  business_number_label: nullable(text('o.business_number_label', 'ABN')),
  business_number: nullable(text('o.business_number', '51 824 753 556')),
  payment_instructions: nullable(text('o.payment_instructions', 'BSB 000-000, account 12345678')),
  pay_url: nullable(text('o.pay_url', 'https://pay.example.org/?invoice={invoice_number}&cents={amount_cents}')),
  reply_address: nullable(text('o.reply_address', 'office@example.org')),
  tax_registered: nullable(flag('o.tax_registered')),
  tax_label: nullable(text('o.tax_label', 'GST')),
  tax_rate: nullable(integer('o.tax_rate', { minimum: 0, maximum: 10_000, examples: [1000] })),
  line_tax: nullable(oneOf('o.line_tax', VALUES.organizations.line_tax)),
  retention: json(RETENTION, {
    type: 'array',
    description: 'What is deleted once it is so many months old: owners decide in the portal.',
    items: objectOf({
      kind: enumOf(VALUES.retention_settings.kind),
      months: { type: 'integer', minimum: 1, maximum: 120, examples: [24] },
    }),
  }),
  created_at: nullable(instant('o.created_at')),
};

const ORG = {
  id: 'get_org',
  path: 'v1/org',
  summary: 'Returns the organization of the key',
  description:
    'What families are shown of it (`app_url`, `privacy_url`, `postal_address`, `phone`), and what invoices say of seller and tax, is changed in ' +
    'the portal only. `tax_rate` is in hundredths of a percent, which prices include; `line_tax` is that of lines whose subject says nothing else.',
  source: Source.organization(),
  view: new View('Organization', columns),
  versioned: true,
};

/** `moved_sessions` is known to the rule alone. */
const CHANGED = new View('ChangedOrganization', {
  ...columns,
  moved_sessions: integer('0', { minimum: 0, examples: [0] }),
});

/** The settings that a key can change. */
const SETTINGS = { ...IDENTITY, paymentTermsDays: SELLER.paymentTermsDays };

/** What a key can change of its organization. */
class UpdateOrg {
  @field.Text({ min: 1, max: 200, trim: true })
  name?: string;

  @field.bodyField(kinds.timeZone, { description: 'Sessions keep their instant.' })
  time_zone?: string;

  @field.Text(
    { max: 3, pattern: { shape: /^[A-Z]{3}$/, message: 'Must be an ISO 4217 code.' } },
    { description: 'One with hundredths, while there is no money.' },
  )
  currency?: string;

  @field.Integer(0, 365, { description: 'From the issue of an invoice until it is due.' })
  payment_terms_days?: number;
}

export const ORG_CONTROLLERS = [
  recordController(ORG),
  writeController({
    id: 'update_org',
    route: 'PATCH /v1/org',
    scope: 'settings:write',
    summary: 'Changes the organization',
    description:
      'Omitted fields stay unchanged. Owners are told by mail. What families are told to open or pay is changed in the portal ' +
      'only. The currency stays once there is money: 409 `has_money`. `moved_sessions` is how many lessons ahead are at another time by ' +
      'the clocks of a new zone: they keep their instant.',
    example: { name: 'Demo Tutoring', payment_terms_days: 21 },
    conflicts: ['has_money'],
    body: UpdateOrg,
    rules: [OrganizationSettings, Records],
    answers: one(CHANGED),
    versions: ORG,
    async run({ caller, organizationId, body }, settings, records) {
      const { name, time_zone: timeZone, currency, payment_terms_days: days } = body;
      const given = { name, timeZone, currency, paymentTermsDays: days?.toString() };
      const by = { userId: null, apiKeyId: caller.keyId };
      const { changed, move } = await settings.change(organizationId, by, SETTINGS, given);
      const columns = changed.map((one) => SETTINGS[one].column);
      const stored = await records.written(caller, ORG);
      const answer = { ...(JSON.parse(stored.text) as object), moved_sessions: move?.moved ?? 0 };
      return { changed: columns.length > 0, audit: { changed: columns }, answer };
    },
  }),
];
