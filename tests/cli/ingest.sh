#!/bin/sh
# What `quipu index` takes, typed as a new user would: formats, folders, pipes, data sets; what comes out of them as text
# and edges; and that a run repeats nothing, goes on after Ctrl-C, and deletes without a trace.
set -eu
. "$(dirname "$0")/../apart.sh"
fixtures="$OLDPWD/tests/fuzz/corpus"
index() { $QUIPU index --quiet --embedder hash "$@"; }
find1() { $QUIPU retrieve --quiet --embedder hash -m bm25 -k 1 --json "$@"; }
found() { has "$(find1 -s "$1" "$2")" "\"document\":\"$3\""; }
absent() { refused 3 "nothing was found" -- find1 -s "$1" "$2"; }

# ---- a folder of everything ----
mkdir -p docs/sub docs/build docs/vendor docs/drafts
cat >docs/a.md <<'D'
---
title: Alpha page
year: 2021
---
# Alpha

Alpha links to [beta](sub/b.html#second), to [[Gamma]] and to [nowhere](http://x.org/).
It builds on the theory of knots [1], on doi:10.1145/361002.361007 and on arXiv:1706.03762.

Calls printf(3) as well.

## References

[1] A. Author. On the theory of knots in cords. Journal of Ropes, 1999.
D
cat >docs/sub/b.html <<'D'
<!doctype html><title>Beta page</title><nav>menubar</nav><script>evilscript()</script><style>p{stylish}</style>
<h1>Beta</h1><p>First paragraph. <h2 id=second>Second</h2><p>Hidden treasure; back to <a href="../a.md">alpha</a>.
D
printf 'Gamma text.\n빠른 갈색 여우가 게으른 개를 뛰어넘었다.\n機械学習は面白いです。\n自然语言处理很有趣。\n' >docs/Gamma.txt
printf -- '---\ntitle: On the theory of knots in cords\n---\nCords and ropes.\n' >docs/knots.md
printf -- '---\ntitle: Trees\ndoi: 10.1145/361002.361007\n---\nMultidimensional trees.\n' >docs/trees.md
printf '.TH PRINTF 3\n.SH NAME\nprintf \\- formatted output\n' >docs/printf.3
printf 'id,name,city\nq1,Ada,London\nq2,"Grace, H.","New ""York"""\n' >docs/people.csv
printf '{"_id":"r1","title":"Rec","text":"Okapis in a record.","year":1999}\n' >docs/records.jsonl
printf '[{"title":"Rome","text":"Rome lies on the Tiber.","idx":7}]\n' >docs/hippo.json
cp "$fixtures/docx/simple.docx" "$fixtures/epub/simple.epub" docs/
printf 'build/\n*.log\n' >docs/.gitignore
printf 'vendor\n' >docs/.quipuignore
for f in build/x.txt l.log vendor/v.txt drafts/d.txt .hidden.txt; do echo "xyzzyword" >"docs/$f"; done
ln -s .. docs/sub/up

out=$(index -s s -o 'exclude=drafts/**' docs)
has "$out" "12 documents added"
absent s xyzzyword
for word in menubar evilscript stylish; do absent s $word; done
found s treasure docs/sub/b.html
found s "formatted output" docs/printf.3
found s "Grace" q2
found s okapis r1
found s Tiber 7
found s "Some text" docs/simple.docx
for word in 여우 갈색 機械学習 学習 自然语言 处理; do found s $word docs/Gamma.txt; done
if command -v pdftotext >/dev/null; then # a page written by hand
    printf '%%PDF-1.4\n1 0 obj<</Type/Catalog/Pages 2 0 R>>endobj\n2 0 obj<</Type/Pages/Kids[3 0 R 3 0 R]/Count 2>>endobj
3 0 obj<</Type/Page/Parent 2 0 R/MediaBox[0 0 400 400]/Contents 4 0 R/Resources<</Font<</F 5 0 R>>>>>>endobj
4 0 obj<</Length 52>>stream\nBT /F 12 Tf 20 300 Td (The portable page one.) Tj ET\nendstream endobj
5 0 obj<</Type/Font/Subtype/Type1/BaseFont/Helvetica>>endobj\ntrailer<</Size 6/Root 1 0 R>>\n' >docs/page.pdf
    index -s s docs >/dev/null
    has "$(find1 -s s 'portable page')" '"document":"docs/page.pdf","page":1'
fi

# Text at a hit's span is the hit's text; the edges are those the documents hold, each with its type.
python3 - s "$work" <<'P'
import json, os, sqlite3, subprocess, sys
store = sqlite3.connect(sys.argv[1] + "/truth.db")
text = {}
for key, piece in store.execute("SELECT key, piece.bytes FROM piece JOIN document d ON d.row = document ORDER BY document, number"):
    text[key] = text.get(key, b"") + piece
for key, start, stop in store.execute("SELECT key, start, stop FROM chunk JOIN document d ON d.row = document"):
    text[key][start:stop].decode()  # never inside a character
for query in ("treasure", "theory of knots", "okapis", "여우"):
    out = subprocess.run([os.environ["QUIPU"], "retrieve", "--quiet", "--embedder", "hash", "-m", "bm25", "-s", sys.argv[1],
                          "--json", query], capture_output=True, check=True).stdout
    for hit in json.loads(out)["hits"]:
        a, b = hit["span"]
        assert text[hit["document"]][a:b].decode() == hit["text"], hit
edges = set(store.execute("SELECT a.key, type, b.key FROM edge JOIN document a ON a.row = tail JOIN document b ON b.row = head"))
for wanted in (("docs/a.md", "link", "docs/sub/b.html"), ("docs/a.md", "link", "docs/Gamma.txt"),
               ("docs/sub/b.html", "link", "docs/a.md"), ("docs/a.md", "man", "docs/printf.3"),
               ("docs/a.md", "cites", "docs/knots.md"), ("docs/a.md", "cites", "docs/trees.md")):
    assert wanted in edges, (wanted, edges)
P

# ---- a run repeats nothing, and deleting leaves no trace ----
has "$(index -s s docs)" "0 texts embedded"
echo "A new paragraph on umbrellas." >>docs/Gamma.txt
has "$(index -s s docs)" "0 documents added, 1 changed"
found s umbrellas docs/Gamma.txt
$QUIPU delete --quiet --embedder hash -s s docs/Gamma.txt >/dev/null
absent s umbrellas
mv docs/Gamma.txt .
index -s never docs >/dev/null
index -s s docs >/dev/null
cmp s/"$(tr -d '\n' <s/CURRENT | sed 's/ .*//')" never/"$(tr -d '\n' <never/CURRENT | sed 's/ .*//')" || fail "deleting left a trace"

# ---- the same folder twice, and one inside the other: nothing counts as gone ----
has "$(index -s t docs/sub)" "1 documents added"
index -s t docs docs >/dev/null 2>err || fail "docs twice: $(cat err)"
lacks "$(cat err)" "second document"
index -s t docs docs/sub >/dev/null
found t treasure sub/b.html
found t Tiber 7

# ---- a file of records that is none keeps nothing else from going ----
mkdir keep
echo "wombats live here" >keep/a.txt
echo "quokkas live here" >keep/b.txt
printf '{"name": "tool", "version": 2}\n' >keep/package.json
index -s k keep >/dev/null 2>&1
rm keep/b.txt
$QUIPU index --embedder hash -s k keep >/dev/null 2>err
has "$(cat err)" "package.json"
absent k quokkas
found k wombats keep/a.txt
printf '{"title": "One", "text": "numbats alone"}\n' >keep/one.json
index -s k keep >/dev/null 2>&1
found k numbats "keep/one.json#1"

# ---- a setting that is refused is not kept ----
code=0; index -s k -o overlap=300 keep >/dev/null 2>err || code=$?
[ $code = 2 ] || fail "overlap=300: exit $code: $(cat err)"
index -s k keep >/dev/null 2>&1 || fail "a refused setting was kept"

# ---- chunks repeat an eighth with graph=text, as AGRAG's do, else nothing ----
mkdir lines
for i in $(seq 100 300); do printf 'The river passed by stone %s of the lake. ' "$i"; done >lines/a.txt
starts() { $QUIPU retrieve --embedder hash -s "$1" -m vector -k 99 "river" | sed -n 's/.*bytes \([0-9]*-[0-9]*\)$/\1/p' | sort -n | tr '-' ' '; }
for graph in text links; do
    index -s "lines.$graph" -o graph=$graph lines >/dev/null 2>&1
    starts "lines.$graph" | awk 'NR > 1 && $1 < end { n++; if (end - $1 > (end - from) / 8) exit 1 } { from = $1; end = $2 } END { print NR - 1, n + 0 }' \
        >"lines.$graph.n"
    read -r pieces over <"lines.$graph.n"
    [ $graph = text ] && wanted=$pieces || wanted=0
    [ "$pieces" -gt 3 ] && [ "$over" = "$wanted" ] || fail "graph=$graph: of $pieces chunks $over begin in the one before"
done

# ---- raw HTML in Markdown is text ----
printf '# Quill\n\n<div align="center">\n<p>Pangolins in a box</p>\n</div>\n\nAfter it.\n' >keep/raw.md
printf -- '---\n\nA rule opens this page of axolotls.\n\n---\n\nAnd ends.\n' >keep/rule.md
index -s k keep >/dev/null 2>&1
found k pangolins keep/raw.md
found k axolotls keep/rule.md

# ---- a flipped byte in the texts is told by check ----
cp -r k flipped
python3 - <<'P'
import sqlite3
store = sqlite3.connect("flipped/truth.db")
row, piece = store.execute("SELECT rowid, bytes FROM piece LIMIT 1").fetchone()
piece = bytearray(piece)
piece[3] ^= 1
store.execute("UPDATE piece SET bytes = ? WHERE rowid = ?", (bytes(piece), row))
store.commit()
P
code=0; $QUIPU check -s flipped >/dev/null 2>err || code=$?
[ $code = 4 ] || fail "check of a flipped text: exit $code: $(cat err)"
$QUIPU check -s k >/dev/null || fail "check of the store beside it"

# ---- standard input, as text and as records; a pipe under a file's name ----
echo "piped words about zebras" | index -s in - >/dev/null
found in zebras stdin
printf '{"_id":"z9","text":"records about okapis"}\n' | index -s in2 - >/dev/null
found in2 okapis z9
printf '{"_id":"z8","text":"records about kudus"}\n' | index -s in2 - >/dev/null
found in2 okapis z9
found in2 kudus z8
code=0
echo "no file" | index -s in3 /dev/stdin >out 2>err || code=$?
[ $code = 2 ] && has "$(cat err)" '"-"'

# ---- a data set: edges with types; unknown and broken ones are counted ----
mkdir set
printf '{"_id":"%s","text":"text of %s"}\n' one one two two three three >set/corpus.jsonl
printf 'src\tdst\ttype\tweight\none\ttwo\tcites\t1\ntwo\tghost\tcites\t1\nthree\tone\tref\t0.5\n' >set/edges.tsv
out=$($QUIPU index --embedder none -s set.s set 2>err)
has "$out" "3 documents added"
has "$out" "2 edges between them in the index (1 edges to unknown ids left out)"
has "$(cat err)" "'two' to 'ghost'"
python3 -c "
print('src\tdst\ttype')
for i in range(70): print('one\ttwo\trelation%d' % i)" >set/edges.tsv
has "$($QUIPU index --embedder none -s set.s set 2>&1)" "70 edges between them in the index"
rm set/edges.tsv
has "$($QUIPU index --embedder none -s set.s set 2>&1)" "0 edges between them in the index"

# ---- sizes: by tokens, by characters, whole; always on sentence bounds ----
python3 -c "
for i in range(300): print('Sentence number %d ends here.' % i, end=' ')" >long.txt
index -s by.tokens -o chunk_size=50 long.txt >/dev/null
index -s by.chars -o chunk=chars -o chunk_size=4096 long.txt >/dev/null
has "$(index -s by.whole -o chunk=whole long.txt)" "1 chunks"
python3 - <<'P'
import sqlite3
text = open("long.txt").read().strip()
for name, most in (("by.tokens", 400), ("by.chars", 4096)):
    spans = sqlite3.connect(name + "/truth.db").execute("SELECT start, stop FROM chunk ORDER BY ordinal").fetchall()
    assert len(spans) > 1 and spans[0][0] == 0 and spans[-1][1] == len(text), (name, spans[:2], spans[-1:])
    for start, stop in spans:
        assert stop - start <= most and text[start:stop].startswith("Sentence") and text[start:stop].endswith("."), name
    assert all(b[0] - a[1] == 1 for a, b in zip(spans, spans[1:])), "something between two chunks is lost"
P

# ---- Ctrl-C: clean, and the next run goes on ----
python3 - <<'P'
import os, random
random.seed(1)
os.mkdir("many")
for i in range(3000):
    with open(f"many/{i}.txt", "w") as f:
        f.write(" ".join(random.choice("abcdefgh") * random.randint(1, 9) for _ in range(400)))
P
python3 - <<'P'
import os, signal, subprocess, time
run = subprocess.Popen([os.environ["QUIPU"], "index", "--embedder", "hash", "-o", "graph=links", "-s", "many.s", "many"], text=True,
                       stdout=subprocess.PIPE, stderr=subprocess.PIPE)
def written():
    return sum(os.path.getsize(f) for f in ("many.s/truth.db", "many.s/truth.db-wal") if os.path.exists(f))
while run.poll() is None and written() < 1 << 20:
    time.sleep(0.01)
run.send_signal(signal.SIGINT)
out, err = run.communicate()
if "3000 documents added" not in out:  # a fast machine may have been done
    assert run.returncode and not out and "run it again to go on" in err, (run.returncode, out, err)
P
has "$(index -s many.s many; index -s many.s many)" "0 documents added, 0 changed, 3000 unchanged"
$QUIPU check -s many.s >/dev/null || fail "check after Ctrl-C"

# ---- nothing where something was: an unmounted disk, a pattern that fits nothing ----
mkdir away
mv keep/* away/
index -s k keep >/dev/null 2>err || true
found k wombats keep/a.txt
mv away/* keep/
has "$(index -s k keep 2>/dev/null)" "0 texts embedded"
index -s k -o 'include=*.nosuch' keep >/dev/null 2>&1 || true
found k wombats keep/a.txt

# ---- what is indexed is for its owner's eyes ----
mkdir open
(umask 022; index -s open keep >/dev/null 2>&1)
[ -z "$(find open -type f \( -name '*.db*' -o -name '*.qp' \) -perm /077)" ] || fail "others can read $(ls -l open)"
