import { LESSON_NEWS } from '../families.js';
import { AS_OWNER, BY_INDEX } from '../rules.js';
import { LIVES_HERE } from './moves.js';

/** Mails to families, for all organizations. */
export const families = /* sql */ `
  -- The organizations for which there is something to look at now, with what they have switched on. news: there are events of which the worker has
  -- not looked for lessons; evening: it is evening there, and the lessons of tomorrow are not all told; reminders: it is day there, and invoices were
  -- not looked at within the hour.
  CREATE FUNCTION family_work() RETURNS TABLE (organization_id uuid, kinds text[], time_zone text, news boolean, evening boolean, reminders boolean)
    LANGUAGE sql STABLE ${BY_INDEX} AS $$
    SELECT w.* FROM (
      SELECT s.organization_id, s.kinds, o.time_zone,
        s.kinds && '{${LESSON_NEWS.join()}}' AND (r.position IS NULL
          OR (SELECT e.number FROM events e WHERE e.organization_id = s.organization_id ORDER BY e.number DESC LIMIT 1) > r.position) AS news,
        'lessons_tomorrow' = ANY (s.kinds) AND l.hour BETWEEN 18 AND 20 AND (r.evening_on IS DISTINCT FROM l.day OR r.evening_after IS NOT NULL) AS evening,
        'reminders' = ANY (s.kinds) AND l.hour BETWEEN 9 AND 16 AND coalesce(r.reminded_at, '-infinity') < now() - interval '1 hour' AS reminders
      FROM (SELECT f.organization_id, array_agg(f.kind) AS kinds FROM family_switches f GROUP BY 1) s
      JOIN organizations o ON o.id = s.organization_id LEFT JOIN family_rounds r ON r.organization_id = s.organization_id
      CROSS JOIN LATERAL (SELECT extract(hour FROM now() AT TIME ZONE o.time_zone) AS hour, (now() AT TIME ZONE o.time_zone)::date AS day) l
      WHERE ${LIVES_HERE('s.organization_id')}) w
    WHERE w.news OR w.evening OR w.reminders
  $$;

  -- What the link of an address leads to; no row for another token.
  CREATE FUNCTION mail_choice(wanted uuid) RETURNS TABLE (organization text, address text, off text[])
    LANGUAGE sql STABLE ${AS_OWNER} AS $$
    SELECT o.name, l.address, ARRAY(SELECT x.kind FROM mail_opt_outs x
      WHERE x.organization_id = l.organization_id AND x.address = l.address)
    FROM mail_links l JOIN organizations o ON o.id = l.organization_id WHERE l.token = wanted
  $$;

  -- Switches these kinds of mail off for the address, and the others on. False for another token, and while its organization is being moved.
  CREATE FUNCTION choose_mail(wanted uuid, off text[]) RETURNS boolean LANGUAGE plpgsql ${AS_OWNER} AS $$
  DECLARE link mail_links;
  BEGIN
    SELECT * INTO link FROM mail_links l WHERE l.token = wanted AND ${LIVES_HERE('l.organization_id')};
    IF NOT FOUND THEN RETURN false; END IF;
    DELETE FROM mail_opt_outs x WHERE x.organization_id = link.organization_id AND x.address = link.address AND x.kind <> ALL (off);
    INSERT INTO mail_opt_outs (organization_id, address, kind)
    SELECT link.organization_id, link.address, k FROM unnest(off) k ON CONFLICT DO NOTHING;
    RETURN true;
  END $$;
`;
