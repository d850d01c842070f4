import sql, { raw, type Sql } from 'sql-template-tag';
import { idOf, IS_STAFF } from '@app/database';
import { covers, distanceBetween, placeOf, shownDistance, teach } from '@app/enquiries';
import { kinds, list, orDefault, parameter, queryOf, Source } from '../../../http/kit.js';
import { TUTOR, tutorView } from '../tutor.view.js';

const MODES = ['online', 'in_person', 'either'] as const;

/** Text that is compared, with an example of its own. */
const text = (max: number, example: string) => {
  const { parse } = kinds.text({ min: 1, max, trim: true });
  return { parse, schema: { type: 'string', minLength: 1, maxLength: max, examples: [example] } };
};

const SUBJECT_NAMED = {
  ...kinds.idOrCode,
  schema: { ...kinds.idOrCode.schema, examples: ['mathematical_methods'] },
};
/** Both names are taken; `subject_id` wins. */
const subject = (description: string) =>
  [
    parameter('subject', SUBJECT_NAMED, description),
    parameter('subject_id', SUBJECT_NAMED, 'The same as `subject`, which it replaces.'),
  ] as const;
const postcode = (description: string) => parameter('postcode', text(20, '3056'), description);

const KM = distanceBetween('home', 'there');
const COVERS = covers('t', 'asked.postcode', KM);
const ANYWHERE = tutorView();
const THERE = tutorView({ distanceKm: shownDistance(KM), coversArea: COVERS });

const staff = (place: Sql) =>
  new Source('members', 'm', {
    id: 'user_id',
    joins: sql`${TUTOR} ${place}`,
  });

/** A postcode, where it is, and where the tutor `t` lives. */
const relatedTo = (wanted: string): Sql => sql`CROSS JOIN (SELECT ${wanted}::text AS postcode) asked
  ${placeOf('there', 'asked.postcode')} ${placeOf('home', 't.home_postcode')}`;

/** The condition for members with such a profile: a look-up for each. EXISTS may be planned as a loop over all profiles, for each of them. */
const profiled = (
  condition: Sql,
  place = raw(''),
): Sql => sql`coalesce((SELECT ${condition} FROM tutor_profiles t ${place}
  WHERE t.organization_id = m.organization_id AND t.user_id = m.user_id), false)`;

const TEACHING: Record<(typeof MODES)[number], Sql> = {
  online: sql`m.teaching IN ('online', 'both')`,
  in_person: sql`m.teaching IN ('in_person', 'both')`,
  either: sql`m.teaching IN ('online', 'in_person', 'both')`,
};

export const COVERAGE = list({
  id: 'list_coverage_tutors',
  path: 'v1/coverage/tutors',
  summary: 'Lists tutors by subject, by how they teach, and by place, newest first',
  description:
    'Accepted staff with a tutor profile. With a `postcode`, `distance_km` is the great-circle distance from the tutor’s home, and ' +
    '`covers_area` says whether they cover the place: everywhere, in this postcode by name, or within their `max_travel_km`. ' +
    'Tutors who only teach online cover no place. With `mode=in_person` those who do not cover it are left out.',
  view: ANYWHERE,
  source: staff(sql``),
  sizes: { limit: 100, most: 500 },
  where: sql`m.${IS_STAFF} AND m.status = 'accepted' AND m.teaching IS NOT NULL`,
  parameters: [
    ...(['subject', 'subject_id'] as const).map((name) =>
      parameter(name, SUBJECT_NAMED, 'Only tutors who teach this subject, by its id or code.', {
        where: (named, _alias, { organizationId }) => teach(organizationId, idOf('subjects', organizationId, named)),
      }),
    ),
    parameter('mode', kinds.oneOf(MODES), 'Only tutors who teach this way. Who teaches both ways is in either.', {
      where: (mode) => TEACHING[mode as keyof typeof TEACHING],
    }),
    parameter('arrangement', text(100, 'at_home'), 'With `mode=in_person`: only tutors with this arrangement.'),
    postcode('A place to which `distance_km` and `covers_area` refer.'),
  ],
  select: ({ mode, arrangement, postcode: wanted }) => ({
    ...(wanted !== undefined && { view: THERE, source: staff(relatedTo(wanted)) }),
    filters: [
      ...(mode === 'in_person' && arrangement !== undefined
        ? [profiled(sql`${arrangement} = ANY (t.in_person_arrangements)`)]
        : []),
      ...(mode === 'in_person' && wanted !== undefined ? [profiled(sql`${raw(COVERS)}`, relatedTo(wanted))] : []),
    ],
  }),
});

export const SummaryQuery = queryOf([
  ...subject('Only tutors who teach this subject, by its id or code.'),
  postcode('The place of `covering_area`. Without it, that is everybody.'),
]);
export type SummaryQuery = InstanceType<typeof SummaryQuery>;

export const GapsQuery = queryOf([
  orDefault(parameter('limit', kinds.integer(1, 200), 'How many postcodes at most.'), 50),
  ...subject('Only requests for this subject, by its id or code.'),
  orDefault(parameter('min_tutors', kinds.integer(1, 1000), 'How many tutors are enough: fewer are a gap.'), 1),
]);
export type GapsQuery = InstanceType<typeof GapsQuery>;

export const RefreshQuery = queryOf([
  ...subject('Only tutors who teach this subject, by its id or code.'),
  orDefault(parameter('minutes', kinds.integer(1, 240), 'How long a drive may take.'), 30),
]);
export type RefreshQuery = InstanceType<typeof RefreshQuery>;
