"""What rdflib reads from a Turtle file, as the lines that tests/unit/test_triples.c makes of a graph: graph/turtle.ttl (by
hand, here), turtle.nt (rdflib's own N-Triples of it) and turtle.txt (the lines); and what networkx writes as GraphML:
graph/networkx.graphml and networkx.txt.
"""
import os

import networkx
from rdflib import Graph, Literal, RDFS

HERE = os.path.join(os.path.dirname(os.path.abspath(__file__)), "graph")

TURTLE = '''@prefix ex: <http://ex.org/ns#> .
@prefix rdfs: <http://www.w3.org/2000/01/rdf-schema#> .
@prefix xsd: <http://www.w3.org/2001/XMLSchema#> .
@base <http://base.org/dir/> .
# a comment with "quotes and [brackets
ex:Ada a ex:Person ; rdfs:label "Ada Lovelace"@en, "Ada, comtesse de Lovelace"@fr ;
    ex:born 1815 ; ex:died "1852-11-27"^^xsd:date ; ex:tall 1.65 ; ex:famous true ;
    ex:knows <Charles>, <../Mary>, <http://ex.org/caf%C3%A9> .
<Charles> rdfs:label "Charles \\"B\\" Babbage" ; ex:wrote """On the
Economy [of] 'Machinery'""" .
ex:knows rdfs:label "is acquainted with" .
<http://ex.org/caf%C3%A9> ex:note 'single \\u00fc \\U0001F600' .
ex:Ada ex:knows ex:Ada .
'''


def local(iri):
    from urllib.parse import unquote
    end = iri.rstrip("#/:")
    for i in range(len(end), 0, -1):
        if end[i - 1] in "#/:":
            return unquote(end[i:])
    return unquote(end)


def lines_of(graph):
    label = {}
    for s, o in graph.subject_objects(RDFS.label):
        rank = 0 if not o.language or o.language == "en" else 1
        label[s] = min(label.get(s, (9, "")), (rank, str(o)))
    name = lambda x: str(x).strip() if isinstance(x, Literal) else label[x][1] if x in label else local(str(x))
    triples = [t for t in graph if t[1] != RDFS.label]
    nodes = {x for s, p, o in triples for x in (s, o)}
    key = lambda s: s.encode()
    entities = sorted({(name(x), "" if isinstance(x, Literal) else "iri: " + str(x)) for x in nodes}, key=lambda e: key(e[0]))
    names, relations = [e[0] for e in entities], sorted({name(p) for s, p, o in triples}, key=key)
    assert len(set(names)) == len(names)
    places = sorted({(names.index(name(s)), names.index(name(o)), relations.index(name(p))) for s, p, o in triples})
    return "".join([f"R {r}\n" for r in relations] + [f"E |{n}|{t}\n" for n, t in entities] +
                   [f"T {h} {r} {t} 1\n" for h, t, r in places])


def graphml():
    g = networkx.MultiDiGraph()
    g.add_node("n1", label="Ann & <co>", age=41, tall=1.5)
    g.add_node("n2", label="Bob", member=True)
    g.add_node("n3", age=7)
    g.add_edge("n1", "n2", relation="knows", weight=0.5)
    g.add_edge("n1", "n2", relation="likes", weight=2.0)
    g.add_edge("n3", "n3", relation="is")
    g.add_edge("n2", "n3")
    networkx.write_graphml(g, os.path.join(HERE, "networkx.graphml"))
    text = lambda v: str(v)
    entities = []
    for n, d in g.nodes(data=True):
        rest = [f"{k}: {text(v)}" for k, v in d.items() if k != "label"] + ([f"id: {n}"] if "label" in d else [])
        entities.append((d.get("label", n), n, "\n".join(rest)))
    entities.sort()
    place = {n: i for i, (_, n, _) in enumerate(entities)}
    relations = sorted({d.get("relation", "link") for _, _, d in g.edges(data=True)})
    triples = sorted((place[s], place[t], relations.index(d.get("relation", "link")), d.get("weight", 1.0))
                     for s, t, d in g.edges(data=True))
    return "".join([f"R {r}\n" for r in relations] + [f"E |{n}|{t}\n" for n, _, t in entities] +
                   [f"T {h} {r} {t} {w:g}\n" for h, t, r, w in triples])


def write(name, text):
    with open(os.path.join(HERE, name), "w", encoding="utf-8", newline="\n") as f:
        f.write(text)


os.makedirs(HERE, exist_ok=True)
write("turtle.ttl", TURTLE)
graph = Graph().parse(data=TURTLE, format="turtle")
write("turtle.nt", "\n".join(sorted(graph.serialize(format="nt").strip().split("\n"))) + "\n")
write("turtle.txt", lines_of(graph))
write("networkx.txt", graphml())
